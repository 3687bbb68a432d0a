-- Which store this is: the one whose IDs clients know, or another.

-- +goose Up
CREATE TABLE kept_store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL
);
