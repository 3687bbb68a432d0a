-- Callback jobs, the journal of their calls, and the keys that sign downloads.
-- Moments are milliseconds since 1970 in UTC, 0 for none; what is not asked for
-- by SQL is in the document.

-- +goose Up
CREATE TABLE callback_job (
    id          TEXT    PRIMARY KEY,
    client_id   BIGINT NOT NULL,
    host        TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    created_at  BIGINT NOT NULL,
    started_at  BIGINT NOT NULL,
    finished_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    next_try    BIGINT NOT NULL,
    document    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    room        BIGINT NOT NULL, -- what it takes of the space of results
    linked_at   BIGINT NOT NULL, -- when its result was given out last
    failing_since BIGINT NOT NULL -- since when calls for it were made in vain, while next_try is set
);

CREATE INDEX callback_job_state ON callback_job (state, client_id, created_at, lease_until);
CREATE INDEX callback_job_client ON callback_job (client_id, started_at);
CREATE INDEX callback_job_due ON callback_job (next_try, host, lease_until, state) WHERE next_try > 0;
CREATE INDEX callback_job_room ON callback_job (client_id, kind, state, linked_at, room, id) WHERE room > 0;
-- Jobs are counted by receiver and state without a look at their documents.
CREATE INDEX callback_job_host ON callback_job (host, state, created_at, next_try, failing_since);

CREATE TABLE callback_try (
    job_id   TEXT    NOT NULL REFERENCES callback_job (id),
    at       BIGINT NOT NULL,
    number   BIGINT NOT NULL,
    status   BIGINT NOT NULL,
    error    TEXT    NOT NULL,
    duration BIGINT NOT NULL
);

CREATE INDEX callback_try_job ON callback_try (job_id, at);

CREATE TABLE signing_key (
    id      TEXT    PRIMARY KEY,
    secret  BYTEA   NOT NULL,
    made_at BIGINT NOT NULL
);

-- What came of callback jobs, where several gateways share the database: each
-- claim's result in parts of one length, so that any place in it can be read.
CREATE TABLE callback_result (
    name TEXT   PRIMARY KEY,
    size BIGINT NOT NULL
);

CREATE TABLE callback_result_part (
    name   TEXT   NOT NULL REFERENCES callback_result (name) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    data   BYTEA  NOT NULL,
    PRIMARY KEY (name, number)
);

-- They are compressed already, or small.
ALTER TABLE callback_result_part ALTER COLUMN data SET STORAGE EXTERNAL;

-- What the work of a job needs to be known, where not every version knows it.
CREATE TABLE callback_needs (
    job_id TEXT    PRIMARY KEY REFERENCES callback_job (id) ON DELETE CASCADE,
    format BIGINT NOT NULL,
    model  BIGINT NOT NULL
);

-- The data of the work of a job, where they are large: read once, when the
-- work begins, and removed when it ends.
CREATE TABLE callback_work (
    job_id TEXT  PRIMARY KEY REFERENCES callback_job (id) ON DELETE CASCADE,
    data   BYTEA NOT NULL
);
