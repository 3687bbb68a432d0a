-- What the gateways of a service and their commands tell each other: acts of
-- people, when api_keys were used last, and how each gateway is set up. Moments
-- are milliseconds since 1970 in UTC, 0 for none.

-- +goose Up
CREATE TABLE ledger_act (
    id          TEXT    PRIMARY KEY,
    at          BIGINT  NOT NULL, -- when it was begun
    ended       BIGINT  NOT NULL, -- 0 while it is under way, or for ever where it was cut off
    lease_until BIGINT  NOT NULL, -- whoever does it has said that it is under way until then
    what        TEXT    NOT NULL, -- as "user block"
    whom        TEXT    NOT NULL, -- on what it was done: a user, a client, a job
    who         TEXT    NOT NULL, -- did it: a user of the system, or api_key and user
    origin      TEXT    NOT NULL, -- from where: a host and terminal, or an address
    outcome     TEXT    NOT NULL, -- "" while it is under way
    told        BIGINT  NOT NULL  -- to the audit log: 0 not, 1 that it was cut off, 2 how it ended
);

CREATE INDEX ledger_act_at ON ledger_act (at);
CREATE INDEX ledger_act_untold ON ledger_act (told) WHERE told < 2;

CREATE TABLE ledger_key_use (
    key_name TEXT    NOT NULL,
    sha256   TEXT    NOT NULL, -- the first 8 digits of the api_key's hash
    used_at  BIGINT  NOT NULL,
    PRIMARY KEY (key_name, sha256)
);

CREATE TABLE ledger_gateway (
    id       TEXT    PRIMARY KEY, -- drawn at its start
    seen_at  BIGINT  NOT NULL, -- by the clock of the database
    document TEXT    NOT NULL
);
