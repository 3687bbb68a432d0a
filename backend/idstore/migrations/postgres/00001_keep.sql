-- IDs given out for the keys of an existing system, and answers kept under
-- idempotency keys. Moments are milliseconds since 1970 in UTC.

-- +goose Up
CREATE TABLE kept_id (
    resource  TEXT COLLATE "C" NOT NULL,
    client_id BIGINT NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    id        BIGINT NOT NULL,
    folded    TEXT COLLATE "C", -- what keys that differ in case alone have in common, where they are one
    PRIMARY KEY (resource, client_id, key)
);

CREATE UNIQUE INDEX kept_id_by_id ON kept_id (resource, id);
CREATE UNIQUE INDEX kept_id_by_folded ON kept_id (resource, client_id, folded) WHERE folded IS NOT NULL;

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

-- Which store this is: the one whose IDs clients know, or another.
CREATE TABLE kept_store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
);

-- Records that a write of some gateway holds, until its deadline at the latest. The
-- time is this server's.
CREATE TABLE kept_turn (
    resource  TEXT COLLATE "C" NOT NULL,
    client_id BIGINT NOT NULL,
    id        BIGINT NOT NULL,
    holder    TEXT NOT NULL,
    until     TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (resource, client_id, id)
);
