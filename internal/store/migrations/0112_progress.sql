-- Measurements and reports.

-- +goose Up

-- Days are YYYY-MM-DD.
CREATE TABLE measurements (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL,
	player_id  TEXT   NOT NULL REFERENCES players (id),
	metric     TEXT   NOT NULL,
	value      DOUBLE PRECISION NOT NULL,
	unit       TEXT   NOT NULL,
	measured_on TEXT  NOT NULL,
	version    BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL
);
CREATE INDEX measurements_of_player ON measurements (coach_id, player_id, measured_on, id);
CREATE INDEX measurements_of_metric ON measurements (coach_id, player_id, metric, measured_on, id);

CREATE TABLE performance_reports (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL,
	player_id  TEXT   NOT NULL REFERENCES players (id),
	title      TEXT   NOT NULL,
	body       TEXT   NOT NULL,
	first_day  TEXT   NOT NULL,
	last_day   TEXT   NOT NULL,
	version    BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL
);
CREATE INDEX performance_reports_of_player ON performance_reports (coach_id, player_id, id);

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
