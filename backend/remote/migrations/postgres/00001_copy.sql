-- What is known of the copy of a service's records, beside the tables of the records. Moments are
-- milliseconds since 1970 by the clock of this database.

-- +goose Up
CREATE TABLE copy_walk (
    resource  TEXT COLLATE "C" NOT NULL,
    client_id BIGINT NOT NULL,             -- 0 where one walk finds the records of all clients
    walked_at BIGINT NOT NULL DEFAULT 0,   -- when the last whole walk began
    asked_at  BIGINT NOT NULL DEFAULT 0,   -- when it was last asked, with an answer, what has changed
    since     TEXT   NOT NULL DEFAULT '',  -- what is asked for next
    members   TEXT   NOT NULL DEFAULT '',  -- what all records of the last walk had, as JSON
    records   BIGINT NOT NULL DEFAULT 0,   -- that the last walk found
    failed_at BIGINT NOT NULL DEFAULT 0,   -- since when walks fail
    failed    TEXT   NOT NULL DEFAULT '',
    changed   BIGINT NOT NULL DEFAULT 0,   -- 1 where that is since the service has not what the sheet needs
    holder    TEXT   NOT NULL DEFAULT '',  -- the gateway that walks, and how long it has the turn
    until     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (resource, client_id)
);

-- Records that were read or written one by one, numbered in the order in which that was: a page
-- of a walk that was asked for before says nothing of them.
CREATE TABLE copy_touched (
    resource TEXT COLLATE "C" NOT NULL,
    id       BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (resource, id)
);

CREATE INDEX copy_touched_at ON copy_touched (at);
