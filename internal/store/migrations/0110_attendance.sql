-- Attendance of batches.

-- +goose Up

-- The sheet of a batch on a day, once attendance is taken, with the number of its marks.
CREATE TABLE attendance_sheets (
	batch_id         TEXT    NOT NULL REFERENCES batches (id),
	date             TEXT    NOT NULL,
	coach_id         TEXT    NOT NULL,
	version          BIGINT  NOT NULL,
	outside_schedule BOOLEAN NOT NULL,
	present          BIGINT  NOT NULL,
	absent           BIGINT  NOT NULL,
	late             BIGINT  NOT NULL,
	excused          BIGINT  NOT NULL,
	taken_at         BIGINT  NOT NULL,
	updated_at       BIGINT  NOT NULL,
	PRIMARY KEY (batch_id, date)
);
CREATE INDEX attendance_sheets_of_coach ON attendance_sheets (coach_id);

-- The mark of a player that counts. marked_at is the time of the coach's phone; recorded_at
-- is when account_id sent it in session_id. note is for the coach alone.
CREATE TABLE attendance_marks (
	coach_id    TEXT   NOT NULL,
	batch_id    TEXT   NOT NULL REFERENCES batches (id),
	date        TEXT   NOT NULL,
	player_id   TEXT   NOT NULL REFERENCES players (id),
	mark        TEXT   NOT NULL,
	note        TEXT,
	marked_at   BIGINT NOT NULL,
	recorded_at BIGINT NOT NULL,
	account_id  TEXT   NOT NULL,
	session_id  TEXT,
	PRIMARY KEY (batch_id, date, player_id)
);
CREATE INDEX attendance_marks_of_player ON attendance_marks (player_id, date, batch_id, mark);
CREATE INDEX attendance_marks_of_coach ON attendance_marks (coach_id, batch_id, date, player_id);

-- Marks that were replaced or removed, or arrived after a later one.
CREATE TABLE superseded_marks (
	coach_id      TEXT   NOT NULL,
	batch_id      TEXT   NOT NULL REFERENCES batches (id),
	date          TEXT   NOT NULL,
	player_id     TEXT   NOT NULL REFERENCES players (id),
	mark          TEXT   NOT NULL,
	note          TEXT,
	marked_at     BIGINT NOT NULL,
	recorded_at   BIGINT NOT NULL,
	account_id    TEXT   NOT NULL,
	session_id    TEXT,
	superseded_at BIGINT NOT NULL,
	PRIMARY KEY (batch_id, date, player_id, marked_at, mark)
);
CREATE INDEX superseded_marks_of_coach ON superseded_marks (coach_id);
CREATE INDEX superseded_notes_of_player ON superseded_marks (player_id) WHERE note IS NOT NULL;
