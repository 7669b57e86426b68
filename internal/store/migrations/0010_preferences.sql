-- Quiet hours, channels for each kind of message, and coaches whose messages a person stopped.

-- +goose Up

-- Minutes after midnight in the person's time zone; equal without quiet hours. channels is
-- JSON: the chosen channels by kind.
ALTER TABLE preferences ADD COLUMN quiet_start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE preferences ADD COLUMN quiet_end INTEGER NOT NULL DEFAULT 0;
ALTER TABLE preferences ADD COLUMN channels TEXT NOT NULL DEFAULT '{}';

-- Messages of the coach to the number stay in the app.
CREATE TABLE stopped_coaches (
	mobile_number TEXT   NOT NULL,
	coach_id      TEXT   NOT NULL,
	stopped_at    BIGINT NOT NULL,
	PRIMARY KEY (mobile_number, coach_id)
);

-- Failed deliveries for operators, without those that were dropped for a reason that no
-- operator can change. They replace deliveries_failed and deliveries_failed_of_coach.
CREATE INDEX deliveries_unsent ON deliveries (updated_at, id) WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted', 'stopped');
CREATE INDEX deliveries_unsent_of_coach ON deliveries (coach_id, updated_at, id) WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted', 'stopped');
DROP INDEX deliveries_failed;
DROP INDEX deliveries_failed_of_coach;

-- +goose Down
CREATE INDEX deliveries_failed ON deliveries (updated_at, id) WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted');
CREATE INDEX deliveries_failed_of_coach ON deliveries (coach_id, updated_at, id) WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted');
DROP INDEX deliveries_unsent_of_coach;
DROP INDEX deliveries_unsent;
DROP TABLE stopped_coaches;
ALTER TABLE preferences DROP COLUMN channels;
ALTER TABLE preferences DROP COLUMN quiet_end;
ALTER TABLE preferences DROP COLUMN quiet_start;
