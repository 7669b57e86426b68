-- Drops the indexes that those of the previous migration replace. On PostgreSQL a DROP INDEX waits
-- until no transaction uses the table. In one migration with a CREATE INDEX each attempt would
-- build the new index again, and keep the writes waiting each time.

-- +goose Up

DROP INDEX IF EXISTS deliveries_unsent;
DROP INDEX IF EXISTS deliveries_unsent_of_coach;

-- +goose Down
CREATE INDEX deliveries_unsent ON deliveries (updated_at, id) WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted', 'stopped');
CREATE INDEX deliveries_unsent_of_coach ON deliveries (coach_id, updated_at, id) WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted', 'stopped');
