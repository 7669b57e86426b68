-- Imports of players.

-- +goose Up

-- Files of players that a coach imports. Their rows are added in steps. warnings, stop,
-- entry and faults are JSON.
CREATE TABLE imports (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL REFERENCES accounts (id),
	warnings   TEXT   NOT NULL,
	stop       TEXT,
	created_at BIGINT NOT NULL,
	ends_at    BIGINT NOT NULL,
	-- file_rows is the number of rows of the file, and file_sha256 identifies the file; NULL for imports of earlier
	-- releases. Until reading_until a process reads the file; afterwards that process has ended before the last row.
	-- NULL means that all rows are here.
	file_rows  BIGINT,
	file_sha256 TEXT,
	reading_until BIGINT,
	-- layout is how the columns and dates of the file were read, as JSON.
	layout     TEXT
);
CREATE INDEX imports_of_coach ON imports (coach_id, id);
CREATE INDEX imports_by_end ON imports (ends_at);

CREATE TABLE import_rows (
	coach_id  TEXT   NOT NULL,
	import_id TEXT   NOT NULL,
	number    BIGINT NOT NULL,
	state     TEXT   NOT NULL,
	entry     TEXT   NOT NULL,
	faults    TEXT   NOT NULL,
	player_id TEXT,
	ends_at   BIGINT NOT NULL,
	PRIMARY KEY (coach_id, import_id, number)
);
CREATE INDEX import_rows_by_state ON import_rows (coach_id, import_id, state, number);
CREATE INDEX import_rows_by_end ON import_rows (ends_at);
