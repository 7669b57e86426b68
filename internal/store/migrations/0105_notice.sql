-- Notifications in the tray, and their streams.

-- +goose Up

-- Ids are in the order of time. What is about a player is found in the trays of the coach and of the player's parties.
CREATE TABLE notifications (
	account_id TEXT   NOT NULL REFERENCES accounts (id),
	seq        BIGINT NOT NULL,
	id         TEXT   NOT NULL UNIQUE,
	type       TEXT   NOT NULL,
	title      TEXT   NOT NULL,
	body       TEXT   NOT NULL,
	data       TEXT   NOT NULL,
	player_id  TEXT,
	created_at BIGINT NOT NULL,
	read_at    BIGINT,
	PRIMARY KEY (account_id, seq)
);
CREATE INDEX notifications_unread ON notifications (account_id, seq) WHERE read_at IS NULL;

-- Whom the service told of what a coach did last to an object, such as a training. outcome is JSON: counts of
-- people, and the ids of the players whose people were not told. No statement searches it.
CREATE TABLE tellings (
	coach_id TEXT   NOT NULL,
	about    TEXT   NOT NULL,
	what     TEXT   NOT NULL,
	outcome  TEXT   NOT NULL,
	told_at  BIGINT NOT NULL,
	PRIMARY KEY (coach_id, about)
);
CREATE INDEX tellings_by_time ON tellings (told_at);

-- When a coach is next notified of requests that have been pending for days.
CREATE TABLE digests (
	coach_id TEXT   NOT NULL PRIMARY KEY,
	due_at   BIGINT NOT NULL,
	version  BIGINT NOT NULL
);
CREATE INDEX digests_due ON digests (due_at);

-- An account has ten slots, so it cannot have more streams. A new stream replaces the one that
-- it saw in its slot; replaced is the id of the replaced one. The row is deleted when the stream ends.
CREATE TABLE streams (
	account_id TEXT    NOT NULL,
	slot       INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 9),
	id         TEXT    NOT NULL,
	process    TEXT    NOT NULL,
	replaced   TEXT    NOT NULL,
	opened_at  BIGINT  NOT NULL,
	ends_at    BIGINT  NOT NULL,
	session_id TEXT    NOT NULL,
	PRIMARY KEY (account_id, slot)
);
CREATE INDEX streams_of_process ON streams (process);
CREATE INDEX streams_by_end ON streams (ends_at);

-- When each process with streams gave its last sign of life.
CREATE TABLE stream_processes (
	id      TEXT   NOT NULL PRIMARY KEY,
	seen_at BIGINT NOT NULL
);
CREATE INDEX stream_processes_by_seen ON stream_processes (seen_at);
