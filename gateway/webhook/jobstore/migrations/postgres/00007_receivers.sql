-- Jobs are counted by receiver and state without a look at their documents.

-- +goose Up
CREATE INDEX callback_job_host ON callback_job (host, state, created_at, next_try, failing_since);
