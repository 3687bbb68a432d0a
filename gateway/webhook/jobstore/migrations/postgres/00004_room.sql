-- What each job takes of the space of results, and when its result was given out last. Of
-- results from before nobody knows that: it is as if it was when a gateway cleans up.

-- +goose Up
ALTER TABLE callback_job ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE callback_job ADD COLUMN room BIGINT NOT NULL DEFAULT 0;
ALTER TABLE callback_job ADD COLUMN linked_at BIGINT NOT NULL DEFAULT 0;
UPDATE callback_job SET kind = coalesce(document::json #>> '{Work,Kind}', ''), room = coalesce((document::json #>> '{Result,Size}')::bigint, 0) WHERE state NOT IN ('accepted', 'running', 'failed');
CREATE INDEX callback_job_room ON callback_job (client_id, kind, state, linked_at, room, id) WHERE room > 0;
