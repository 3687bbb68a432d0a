-- What the built-in administration keeps beside records: clients and users,
-- counters, answers under idempotency keys, and how far the sample data is.
-- Moments are milliseconds since 1970 in UTC.

-- +goose Up
CREATE TABLE client (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE app_user (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    client_id     INTEGER NOT NULL REFERENCES client (id),
    username      TEXT    NOT NULL UNIQUE,
    email         TEXT    NOT NULL,
    password_hash TEXT    NOT NULL,
    is_external   INTEGER NOT NULL,
    is_blocked    INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    -- When the sessions that the user had open were ended last, by a new password or a block,
    -- and why: new_password, user_blocked. Null for never.
    sessions_end     INTEGER,
    sessions_end_why TEXT
) STRICT;

CREATE TABLE password_reset (
    token_hash BLOB    PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES app_user (id),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX password_reset_user ON password_reset (user_id);

CREATE TABLE counter (
    client_id INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    value     INTEGER NOT NULL,
    PRIMARY KEY (client_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    client_id  INTEGER NOT NULL,
    key        TEXT    NOT NULL,
    sum        BLOB    NOT NULL,
    answer     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (client_id, key)
) STRICT;

CREATE INDEX idempotency_created ON idempotency (created_at);

CREATE TABLE sample_data (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    orders  INTEGER NOT NULL,
    done    INTEGER NOT NULL
) STRICT;
