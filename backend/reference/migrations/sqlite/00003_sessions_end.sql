-- When the sessions that a user had open were ended last, by a new password or a block, and
-- why: new_password, user_blocked. Null for never.

-- +goose Up
ALTER TABLE app_user ADD COLUMN sessions_end INTEGER;
ALTER TABLE app_user ADD COLUMN sessions_end_why TEXT;
