-- Since when calls for a job were made in vain, while it is to be called again: 0 where none
-- was since this column is there. Older gateways leave it as it is, so that it counts only
-- beside next_try, by whose index such jobs are found.

-- +goose Up
ALTER TABLE callback_job ADD COLUMN failing_since BIGINT NOT NULL DEFAULT 0;
