-- Batches and their players.

-- +goose Up

-- schedule is JSON. An archived batch does not change any more.
CREATE TABLE batches (
	id          TEXT   NOT NULL PRIMARY KEY,
	coach_id    TEXT   NOT NULL REFERENCES accounts (id),
	version     BIGINT NOT NULL,
	name        TEXT   NOT NULL,
	sport       TEXT,
	venue       TEXT,
	schedule    TEXT   NOT NULL,
	time_zone   TEXT   NOT NULL,
	created_at  BIGINT NOT NULL,
	updated_at  BIGINT NOT NULL,
	archived_at BIGINT
);
CREATE INDEX batches_of_coach ON batches (coach_id, id);
CREATE INDEX batches_open ON batches (coach_id, id) WHERE archived_at IS NULL;

-- A player is in a batch while left_at is NULL. The row stays, so that attendance can be
-- noted for the time before.
CREATE TABLE batch_players (
	coach_id  TEXT   NOT NULL,
	batch_id  TEXT   NOT NULL REFERENCES batches (id),
	player_id TEXT   NOT NULL REFERENCES players (id),
	joined_at BIGINT NOT NULL,
	left_at   BIGINT,
	PRIMARY KEY (batch_id, player_id)
);
CREATE INDEX batch_players_now ON batch_players (batch_id, player_id) WHERE left_at IS NULL;
CREATE INDEX batches_of_player ON batch_players (player_id, batch_id) WHERE left_at IS NULL;
CREATE INDEX batch_players_of_coach ON batch_players (coach_id, batch_id, player_id);

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
