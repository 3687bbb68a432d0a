-- What the work of a job needs to be known, where not every version knows it.

-- +goose Up
CREATE TABLE callback_needs (
    job_id TEXT    PRIMARY KEY REFERENCES callback_job (id) ON DELETE CASCADE,
    format BIGINT NOT NULL,
    model  BIGINT NOT NULL
);
