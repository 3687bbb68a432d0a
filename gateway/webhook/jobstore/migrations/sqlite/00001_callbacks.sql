-- Callback jobs, the journal of their calls, and the keys that sign downloads.
-- Moments are milliseconds since 1970 in UTC, 0 for none; what is not asked for
-- by SQL is in the document.

-- +goose Up
CREATE TABLE callback_job (
    id          TEXT    PRIMARY KEY,
    client_id   INTEGER NOT NULL,
    host        TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    next_try    INTEGER NOT NULL,
    document    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX callback_job_state ON callback_job (state, client_id, created_at, lease_until);
CREATE INDEX callback_job_client ON callback_job (client_id, started_at);
CREATE INDEX callback_job_due ON callback_job (next_try, host, lease_until, state) WHERE next_try > 0;

CREATE TABLE callback_try (
    job_id   TEXT    NOT NULL REFERENCES callback_job (id),
    at       INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    status   INTEGER NOT NULL,
    error    TEXT    NOT NULL,
    duration INTEGER NOT NULL
) STRICT;

CREATE INDEX callback_try_job ON callback_try (job_id, at);

CREATE TABLE signing_key (
    id      TEXT    PRIMARY KEY,
    secret  BLOB    NOT NULL,
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
