-- The data of the work of a job, where they are large: read once, when the
-- work begins, and removed when it ends.

-- +goose Up
CREATE TABLE callback_work (
    job_id TEXT  PRIMARY KEY REFERENCES callback_job (id) ON DELETE CASCADE,
    data   BYTEA NOT NULL
);
