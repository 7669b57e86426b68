-- Limits as lists of times.

-- +goose Up

-- The times of the newest occurrences of a shard, newest first: 16 digits each. Of a large
-- shard only each occurrence whose number is a multiple of every has its time here; kept is
-- the length of the list in characters. limit_slots is no longer used for limits.
ALTER TABLE limits ADD COLUMN times TEXT NOT NULL DEFAULT '';
ALTER TABLE limits ADD COLUMN every BIGINT NOT NULL DEFAULT 1;
ALTER TABLE limits ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE limits DROP COLUMN kept;
ALTER TABLE limits DROP COLUMN every;
ALTER TABLE limits DROP COLUMN times;
