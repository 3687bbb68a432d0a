-- Records that a write of some gateway holds, until its deadline at the latest. The
-- time is this server's.

-- +goose Up
CREATE TABLE kept_turn (
    resource  TEXT COLLATE "C" NOT NULL,
    client_id BIGINT NOT NULL,
    id        BIGINT NOT NULL,
    holder    TEXT NOT NULL,
    until     TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (resource, client_id, id)
);
