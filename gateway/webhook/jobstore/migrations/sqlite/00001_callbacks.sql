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
    document    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    room        INTEGER NOT NULL, -- what it takes of the space of results
    linked_at   INTEGER NOT NULL, -- when its result was given out last
    failing_since INTEGER NOT NULL -- since when calls for it were made in vain, while next_try is set
) STRICT, WITHOUT ROWID;

CREATE INDEX callback_job_state ON callback_job (state, client_id, created_at, lease_until);
CREATE INDEX callback_job_client ON callback_job (client_id, started_at);
CREATE INDEX callback_job_due ON callback_job (next_try, host, lease_until, state) WHERE next_try > 0;
CREATE INDEX callback_job_room ON callback_job (client_id, kind, state, linked_at, room, id) WHERE room > 0;
-- Jobs are counted by receiver and state without a look at their documents.
CREATE INDEX callback_job_host ON callback_job (host, state, created_at, next_try, failing_since);

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

-- What the work of a job needs to be known, where not every version knows it.
CREATE TABLE callback_needs (
    job_id TEXT    PRIMARY KEY REFERENCES callback_job (id) ON DELETE CASCADE,
    format INTEGER NOT NULL,
    model  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The data of the work of a job, where they are large: read once, when the
-- work begins, and removed when it ends.
CREATE TABLE callback_work (
    job_id TEXT PRIMARY KEY REFERENCES callback_job (id) ON DELETE CASCADE,
    data   BLOB NOT NULL
) STRICT;
