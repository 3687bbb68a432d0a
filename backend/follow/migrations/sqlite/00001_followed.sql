-- Whose records of which resource are followed, as they were seen last, and who looks at
-- them. Moments are milliseconds since 1970 by the clock of this database.

-- +goose Up
CREATE TABLE followed (
    client_id   INTEGER NOT NULL,
    resource    TEXT    NOT NULL,
    client_name TEXT    NOT NULL,
    asked_at    INTEGER NOT NULL,           -- when a client asked last
    pass        INTEGER NOT NULL DEFAULT 0, -- number of the last look that began
    next_at     INTEGER NOT NULL DEFAULT 0, -- when the next one is due
    ready_at    INTEGER NOT NULL DEFAULT 0, -- when all had been read for the first time; 0 before
    whole_at    INTEGER NOT NULL DEFAULT 0, -- when all had been read last
    done_at     INTEGER NOT NULL DEFAULT 0, -- when the last look had ended
    since       INTEGER NOT NULL DEFAULT 0, -- modified_at that the next look by version begins from
    high        INTEGER NOT NULL DEFAULT 0, -- the highest modified_at that was seen
    high_at     INTEGER NOT NULL DEFAULT 0, -- when that had been seen first
    final       INTEGER NOT NULL DEFAULT 0, -- modified_at up to which all was read after it had settled
    -- How far it was read what the system itself says has changed: where the next look
    -- begins, empty for none; a later one, reached at marked_at, before which writers may
    -- still have been at work; and 1 where all is to be read again then.
    position    TEXT    NOT NULL DEFAULT '',
    mark        TEXT    NOT NULL DEFAULT '',
    marked_at   INTEGER NOT NULL DEFAULT 0,
    unsettled   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (client_id, resource)
) STRICT, WITHOUT ROWID;

CREATE TABLE followed_record (
    client_id INTEGER NOT NULL,
    resource  TEXT    NOT NULL,
    id        INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    modified  INTEGER,
    gone      INTEGER NOT NULL, -- 1 for one that was there
    pass      INTEGER NOT NULL, -- the look that was under way when it changed
    PRIMARY KEY (client_id, resource, id)
) STRICT, WITHOUT ROWID;

-- The one gateway that looks.
CREATE TABLE follow_lease (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    holder TEXT    NOT NULL,
    until  INTEGER NOT NULL
) STRICT;
