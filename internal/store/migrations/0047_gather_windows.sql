-- limit_slots had only the windows in which the requests of a coach to a number gather. It gets
-- their name and columns. Windows last minutes and are not copied.

-- +goose Up
CREATE TABLE gather_windows (
	coach_id TEXT   NOT NULL,
	number   TEXT   NOT NULL,
	ends_at  BIGINT NOT NULL,
	PRIMARY KEY (coach_id, number)
);
CREATE INDEX gather_windows_by_end ON gather_windows (ends_at);
DROP TABLE limit_slots;

-- +goose Down
CREATE TABLE limit_slots (
	key     TEXT   NOT NULL,
	slot    BIGINT NOT NULL,
	free_at BIGINT NOT NULL,
	PRIMARY KEY (key, slot)
);
CREATE INDEX limit_slots_by_end ON limit_slots (free_at);
DROP TABLE gather_windows;
