-- A coach must not answer for a child: with an earlier number of the coach, or unseen on the coach's own device.

-- +goose Up

-- The numbers that an account of a coach had before, as keyed hashes. closed says that the account was closed with
-- this number: a coach who registers with it again inherits the rows.
CREATE TABLE former_numbers (
	account_id  TEXT    NOT NULL REFERENCES accounts (id),
	number_hash BYTEA   NOT NULL,
	left_at     BIGINT  NOT NULL,
	closed      BOOLEAN NOT NULL DEFAULT FALSE,
	PRIMARY KEY (account_id, number_hash)
);
CREATE INDEX former_numbers_closed ON former_numbers (number_hash) WHERE closed = TRUE;
CREATE INDEX former_numbers_by_end ON former_numbers (left_at);

-- The device tokens with which a coach signed in, or that were used on the same device as one of those. The rows
-- outlive the device tokens, which a logout of all sessions deletes.
CREATE TABLE coach_devices (
	token_hash BYTEA  NOT NULL,
	coach_id   TEXT   NOT NULL REFERENCES accounts (id),
	ends_at    BIGINT NOT NULL,
	PRIMARY KEY (token_hash, coach_id)
);
CREATE INDEX coach_devices_by_end ON coach_devices (ends_at);
CREATE INDEX coach_devices_of_coach ON coach_devices (coach_id);
INSERT INTO coach_devices (token_hash, coach_id, ends_at)
	SELECT DISTINCT d.token_hash, s.account_id, d.ends_at FROM devices d JOIN sessions s ON s.device_id = d.id AND s.role = 'coach';

-- coach_device is the coach of the player if the party approved on a device that had signed in as that coach.
ALTER TABLE approval_history ADD COLUMN coach_device TEXT;
CREATE INDEX approval_history_coach_device ON approval_history (coach_device, decided_at, id) WHERE coach_device IS NOT NULL;

-- +goose Down
DROP INDEX approval_history_coach_device;
ALTER TABLE approval_history DROP COLUMN coach_device;
DROP TABLE coach_devices;
DROP TABLE former_numbers;
