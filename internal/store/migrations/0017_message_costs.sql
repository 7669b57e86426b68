-- What messages have cost, for the report of operators.

-- +goose Up

-- One row for each day (UTC, its start), coach and channel. coach_id is empty for OTPs and for messages
-- of coaches who have left. cost is in the unit of Settings.SegmentPrice.
CREATE TABLE message_costs (
	day      BIGINT NOT NULL,
	coach_id TEXT   NOT NULL,
	channel  TEXT   NOT NULL,
	messages BIGINT NOT NULL,
	segments BIGINT NOT NULL,
	cost     BIGINT NOT NULL,
	PRIMARY KEY (day, coach_id, channel)
);
CREATE INDEX message_costs_of_coach ON message_costs (coach_id, day, channel);

-- +goose Down
DROP TABLE message_costs;
