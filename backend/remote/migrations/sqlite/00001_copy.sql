-- What is known of the copy of a service's records, beside the tables of the records. Moments are
-- milliseconds since 1970 by the clock of this database.

-- +goose Up
CREATE TABLE copy_walk (
    resource  TEXT    NOT NULL,
    client_id INTEGER NOT NULL,             -- 0 where one walk finds the records of all clients
    walked_at INTEGER NOT NULL DEFAULT 0,   -- when the last whole walk began
    asked_at  INTEGER NOT NULL DEFAULT 0,   -- when it was last asked, with an answer, what has changed
    since     TEXT    NOT NULL DEFAULT '',  -- what is asked for next
    members   TEXT    NOT NULL DEFAULT '',  -- what all records of the last walk had, as JSON
    records   INTEGER NOT NULL DEFAULT 0,   -- that the last walk found
    failed_at INTEGER NOT NULL DEFAULT 0,   -- since when walks fail
    failed    TEXT    NOT NULL DEFAULT '',
    changed   INTEGER NOT NULL DEFAULT 0,   -- 1 where that is since the service has not what the sheet needs
    holder    TEXT    NOT NULL DEFAULT '',  -- the gateway that walks, and how long it has the turn
    until     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (resource, client_id)
) STRICT, WITHOUT ROWID;

-- Records that were read or written one by one, numbered in the order in which that was: a page
-- of a walk that was asked for before says nothing of them.
CREATE TABLE copy_touched (
    resource TEXT    NOT NULL,
    id       INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (resource, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX copy_touched_at ON copy_touched (at);
