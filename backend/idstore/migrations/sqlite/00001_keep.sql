-- IDs given out for the keys of an existing system, and answers kept under
-- idempotency keys. Moments are milliseconds since 1970 in UTC.

-- +goose Up
CREATE TABLE kept_id (
    resource  TEXT    NOT NULL,
    client_id INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    id        INTEGER NOT NULL,
    folded    TEXT, -- what keys that differ in case alone have in common, where they are one
    PRIMARY KEY (resource, client_id, key)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX kept_id_by_id ON kept_id (resource, id);
CREATE UNIQUE INDEX kept_id_by_folded ON kept_id (resource, client_id, folded) WHERE folded IS NOT NULL;

-- The last ID given out, so that none is given out twice.
CREATE TABLE kept_last_id (
    resource TEXT    PRIMARY KEY,
    id       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- sum and answer are NULL while the work is under way.
CREATE TABLE kept_answer (
    client_id INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    sum       BLOB,
    answer    BLOB,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (client_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_answer_age ON kept_answer (expires_at);

-- Which store this is: the one whose IDs clients know, or another.
CREATE TABLE kept_store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
) STRICT;
