-- What came of callback jobs, where several gateways share the database: each
-- claim's result in parts of one length, so that any place in it can be read.

-- +goose Up
CREATE TABLE callback_result (
    name TEXT   PRIMARY KEY,
    size BIGINT NOT NULL
);

CREATE TABLE callback_result_part (
    name   TEXT   NOT NULL REFERENCES callback_result (name) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    data   BYTEA  NOT NULL,
    PRIMARY KEY (name, number)
);

-- They are compressed already, or small.
ALTER TABLE callback_result_part ALTER COLUMN data SET STORAGE EXTERNAL;
