-- What the gateways of a service tell each other and their commands: when api_keys
-- were used last, and how each gateway is set up. Moments are milliseconds since 1970
-- in UTC.

-- +goose Up
CREATE TABLE neighbour_key_use (
    key_name TEXT    NOT NULL,
    sha256   TEXT    NOT NULL, -- the first 8 digits of the api_key's hash
    used_at  BIGINT  NOT NULL,
    PRIMARY KEY (key_name, sha256)
);

CREATE TABLE neighbour_gateway (
    id       TEXT    PRIMARY KEY, -- drawn at its start
    seen_at  BIGINT  NOT NULL, -- by the clock of the database
    document TEXT    NOT NULL
);
