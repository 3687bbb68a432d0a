-- Lists of jobs have the newest first.

-- +goose Up
CREATE INDEX callback_job_newest ON callback_job (created_at DESC, id);
