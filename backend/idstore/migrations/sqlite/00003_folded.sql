-- What keys that differ in case alone have in common, where they are one; else NULL.

-- +goose Up
ALTER TABLE kept_id ADD COLUMN folded TEXT;

CREATE UNIQUE INDEX kept_id_by_folded ON kept_id (resource, client_id, folded) WHERE folded IS NOT NULL;
