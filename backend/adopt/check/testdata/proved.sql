-- DT is the engine's type of a moment.
CREATE TABLE usr (login varchar(20), pass varchar(80), mail varchar(80), adm integer)
CREATE TABLE con (id bigint NOT NULL PRIMARY KEY, adm integer, srt varchar(1), name varchar(200), nick varchar(200), days bigint, stat varchar(1), ini varchar(9), changed DT)
CREATE INDEX con_name ON con (name)
CREATE TABLE com (con integer NOT NULL, nr integer NOT NULL, val varchar(80), PRIMARY KEY (con, nr))
CREATE TABLE art (code varchar(9), adm integer, descr varchar(80), cents integer, cost integer, weight double precision, con integer, bar varchar(20), gone integer)
CREATE VIEW v_art AS SELECT code, adm, descr, cents, cost, weight, con, bar, gone FROM art
INSERT INTO usr VALUES ('a', '$2a$04$abcdefghijklmnopqrstuu6JwZkTpyFmvDCeEJpZiVRfyxKzY5pWe', 'a@example.nl', 1), ('b', '$2a$04$abcdefghijklmnopqrstuu6JwZkTpyFmvDCeEJpZiVRfyxKzY5pWe', 'b@example.nl', 2)
INSERT INTO con VALUES (1, 1, 'P', 'Ünal', 'x', 14, 'A', '', '2026-03-29 02:30:00'), (2, 1, 'B', 'O''Neil', NULL, 30, 'H', 'J', '2026-10-25 02:30:00'), (3, 2, 'P', 'C', 'y', 0, 'B', NULL, '2026-01-01')
INSERT INTO com VALUES (1, 1, 'x'), (3, 1, 'y')
INSERT INTO art VALUES ('P1', 1, 'a', 1275, 5, 0.1, 1, '0', 0), ('P2', 1, 'B', 50, 7, 1234.5678, NULL, '', 0), ('P1', 2, 'c', 0, 0, 0.3333, 3, NULL, 0), ('P3', 1, 'gone', 1, 1, 1, 9, NULL, 1)
