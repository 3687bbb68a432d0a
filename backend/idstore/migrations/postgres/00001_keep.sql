-- IDs given out for the keys of an existing system, and answers kept under
-- idempotency keys. Moments are milliseconds since 1970 in UTC.

-- +goose Up
CREATE TABLE kept_id (
    resource  TEXT COLLATE "C" NOT NULL,
    client_id BIGINT NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    id        BIGINT NOT NULL,
    PRIMARY KEY (resource, client_id, key)
);

CREATE UNIQUE INDEX kept_id_by_id ON kept_id (resource, id);

-- The last ID given out, so that none is given out twice.
CREATE TABLE kept_last_id (
    resource TEXT COLLATE "C" PRIMARY KEY,
    id       BIGINT NOT NULL
);

-- sum and answer are NULL while the work is under way.
CREATE TABLE kept_answer (
    client_id BIGINT NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    sum       BYTEA,
    answer    BYTEA,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (client_id, key)
);

CREATE INDEX kept_answer_age ON kept_answer (expires_at);
