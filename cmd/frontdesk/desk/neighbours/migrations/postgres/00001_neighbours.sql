-- What the gateways of a service tell each other and their commands: when api_keys
-- were used last, which have ended, and how each gateway is set up. Moments are milliseconds since 1970
-- in UTC.

-- +goose Up
CREATE TABLE neighbour_key_use (
    key_name TEXT    NOT NULL,
    sha256   TEXT    NOT NULL, -- the first 8 digits of the api_key's hash
    used_at  BIGINT  NOT NULL,
    PRIMARY KEY (key_name, sha256)
);

CREATE TABLE neighbour_key_end (
    sha256   TEXT    PRIMARY KEY, -- of the api_key
    key_name TEXT    NOT NULL,
    ends_at  BIGINT  NOT NULL,
    told_at  BIGINT  NOT NULL, -- by the clock of the database
    told_by  TEXT    NOT NULL, -- the host
    final    BIGINT  NOT NULL  -- 1: by expires, so that nothing undoes it once it has come; 0: by a hash that is gone from the files
);

CREATE TABLE neighbour_gateway (
    id       TEXT    PRIMARY KEY, -- drawn at its start
    seen_at  BIGINT  NOT NULL, -- by the clock of the database
    document TEXT    NOT NULL
);
