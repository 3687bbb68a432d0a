-- Since when calls for a job were made in vain, while it is to be called again. Older gateways
-- leave it as it is, so that it counts only beside next_try.

-- +goose Up
ALTER TABLE callback_job ADD COLUMN failing_since INTEGER NOT NULL DEFAULT 0;
UPDATE callback_job SET failing_since = coalesce((SELECT max(at) FROM callback_try WHERE job_id = id AND number = 1), 0) WHERE next_try > finished_at;
CREATE INDEX callback_job_failing ON callback_job (client_id, failing_since, next_try, id) WHERE failing_since > 0 AND next_try > 0;
