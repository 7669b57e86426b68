-- A player who left a batch and joined it again, and records that the coach can restore.

-- +goose Up

-- A membership that ended before the player joined the batch again; batch_players has the newest one.
CREATE TABLE earlier_memberships (
	coach_id  TEXT   NOT NULL,
	batch_id  TEXT   NOT NULL REFERENCES batches (id),
	player_id TEXT   NOT NULL REFERENCES players (id),
	joined_at BIGINT NOT NULL,
	left_at   BIGINT NOT NULL,
	PRIMARY KEY (batch_id, player_id, left_at)
);
CREATE INDEX earlier_memberships_of_coach ON earlier_memberships (coach_id);

-- A measurement or report that a coach deleted, until the coach can no longer restore it. content is JSON.
CREATE TABLE removed_records (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL,
	player_id  TEXT   NOT NULL REFERENCES players (id),
	kind       TEXT   NOT NULL,
	content    TEXT   NOT NULL,
	removed_at BIGINT NOT NULL
);
CREATE INDEX removed_records_of_player ON removed_records (coach_id, player_id);
CREATE INDEX removed_records_by_time ON removed_records (removed_at);

-- +goose Down
DROP TABLE removed_records;
DROP TABLE earlier_memberships;
