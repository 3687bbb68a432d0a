-- How far it was read what the system itself says has changed: position is where the next
-- look begins, empty for none; mark is a later one, reached at marked_at, before which
-- writers may still have been at work; unsettled is 1 where all is to be read again then.

-- +goose Up
ALTER TABLE followed ADD COLUMN position TEXT NOT NULL DEFAULT '';
ALTER TABLE followed ADD COLUMN mark TEXT NOT NULL DEFAULT '';
ALTER TABLE followed ADD COLUMN marked_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE followed ADD COLUMN unsettled INTEGER NOT NULL DEFAULT 0;
