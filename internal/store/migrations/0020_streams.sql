-- The open notification streams of all processes.

-- +goose Up

-- An account has ten slots, so it cannot have more streams. A new stream replaces the one that
-- it saw in its slot; replaced is the id of that one. The row is deleted when the stream ends.
CREATE TABLE streams (
	account_id TEXT    NOT NULL,
	slot       INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 9),
	id         TEXT    NOT NULL,
	process    TEXT    NOT NULL,
	replaced   TEXT    NOT NULL,
	opened_at  BIGINT  NOT NULL,
	ends_at    BIGINT  NOT NULL,
	PRIMARY KEY (account_id, slot)
);
CREATE INDEX streams_by_end ON streams (ends_at);

-- When each process with streams gave its last sign of life.
CREATE TABLE stream_processes (
	id      TEXT   NOT NULL PRIMARY KEY,
	seen_at BIGINT NOT NULL
);
CREATE INDEX stream_processes_by_seen ON stream_processes (seen_at);

-- +goose Down
DROP TABLE stream_processes;
DROP TABLE streams;
