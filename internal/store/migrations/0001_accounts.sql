-- Accounts, sessions, one-time passwords and the limits that guard them.
-- One text for SQLite and PostgreSQL: ids TEXT (UUIDv7), times BIGINT in UTC
-- microseconds from the service's clock, JSON as TEXT that is never queried.

-- +goose Up

-- Secrets, each sealed under the master key, shared by all replicas.
CREATE TABLE secrets (
	id         TEXT   NOT NULL PRIMARY KEY,
	purpose    TEXT   NOT NULL,
	sealed     BYTEA  NOT NULL,
	created_at BIGINT NOT NULL,
	active_at  BIGINT NOT NULL,
	ends_at    BIGINT NOT NULL
);

-- An account is a mobile number in one role. tray_seq numbers its notifications.
CREATE TABLE accounts (
	id            TEXT   NOT NULL PRIMARY KEY,
	mobile_number TEXT   NOT NULL,
	role          TEXT   NOT NULL,
	tray_seq      BIGINT NOT NULL DEFAULT 0,
	created_at    BIGINT NOT NULL,
	UNIQUE (mobile_number, role)
);

-- What a coach says of themself. The row is made by the first login.
CREATE TABLE coaches (
	id               TEXT   NOT NULL PRIMARY KEY REFERENCES accounts (id),
	name             TEXT,
	email            TEXT,
	bio              TEXT,
	experience_years INTEGER,
	sports           TEXT   NOT NULL DEFAULT '[]',
	version          BIGINT NOT NULL DEFAULT 1,
	created_at       BIGINT NOT NULL,
	updated_at       BIGINT NOT NULL
);

-- A device that proved itself once has OTP tries and sends of its own.
CREATE TABLE devices (
	id            TEXT   NOT NULL PRIMARY KEY,
	token_hash    BYTEA  NOT NULL UNIQUE,
	mobile_number TEXT   NOT NULL,
	ends_at       BIGINT NOT NULL
);
CREATE INDEX devices_by_number ON devices (mobile_number);
CREATE INDEX devices_by_end ON devices (ends_at);

-- The account's number and role stand here too, so that a request is
-- authenticated by one row. generation counts refreshes; used_at is the first
-- use of this generation's tokens, used_before those of the ones before, newest
-- first: 16 digits each, eight at most.
CREATE TABLE sessions (
	id            TEXT   NOT NULL PRIMARY KEY,
	account_id    TEXT   NOT NULL REFERENCES accounts (id),
	role          TEXT   NOT NULL,
	mobile_number TEXT   NOT NULL,
	device_id     TEXT   NOT NULL,
	device_name   TEXT,
	generation    BIGINT NOT NULL,
	refresh_hash  BYTEA  NOT NULL,
	used_at       BIGINT,
	used_before   TEXT   NOT NULL DEFAULT '',
	created_at    BIGINT NOT NULL,
	last_used_at  BIGINT NOT NULL,
	idle_at       BIGINT NOT NULL,
	ends_at       BIGINT NOT NULL,
	revoked_at    BIGINT
);
CREATE INDEX sessions_of_account ON sessions (account_id, id) WHERE revoked_at IS NULL;
CREATE INDEX sessions_by_end ON sessions (ends_at);

-- One challenge for each number, role and device ('' is the shared one).
CREATE TABLE otp_challenges (
	mobile_number TEXT   NOT NULL,
	role          TEXT   NOT NULL,
	device_id     TEXT   NOT NULL,
	id            TEXT   NOT NULL,
	code          BYTEA  NOT NULL,
	tries         INTEGER NOT NULL,
	sent_at       BIGINT NOT NULL,
	ends_at       BIGINT NOT NULL,
	used_at       BIGINT,
	PRIMARY KEY (mobile_number, role, device_id)
);
CREATE INDEX otp_challenges_by_end ON otp_challenges (ends_at);

-- Wrong tries over all codes of a number or a device, newest first: 16 digits each,
-- as many as there may be. Until blocked_until there is no other; they count until
-- ends_at at the latest.
CREATE TABLE otp_failures (
	who           TEXT   NOT NULL PRIMARY KEY,
	times         TEXT   NOT NULL,
	blocked_until BIGINT NOT NULL,
	ends_at       BIGINT NOT NULL
);
CREATE INDEX otp_failures_by_end ON otp_failures (ends_at);

-- A limit numbers what happens; each occurrence takes the slot of its number
-- modulo the limit, and so needs the one before it in that slot to have ended.
CREATE TABLE limits (
	key         TEXT   NOT NULL PRIMARY KEY,
	occurrences BIGINT NOT NULL,
	ends_at     BIGINT NOT NULL
);
CREATE INDEX limits_by_end ON limits (ends_at);
CREATE TABLE limit_slots (
	key     TEXT   NOT NULL,
	slot    BIGINT NOT NULL,
	free_at BIGINT NOT NULL,
	PRIMARY KEY (key, slot)
);
CREATE INDEX limit_slots_by_end ON limit_slots (free_at);

-- First answers kept for Idempotency-Key, sealed. status 0: still running.
CREATE TABLE kept_answers (
	owner       TEXT    NOT NULL,
	key         TEXT    NOT NULL,
	fingerprint BYTEA   NOT NULL,
	status      INTEGER NOT NULL,
	answer      BYTEA,
	lease       TEXT    NOT NULL,
	started_at  BIGINT  NOT NULL,
	ends_at     BIGINT  NOT NULL,
	PRIMARY KEY (owner, key)
);
CREATE INDEX kept_answers_by_end ON kept_answers (ends_at);

-- +goose Down
DROP TABLE kept_answers;
DROP TABLE limit_slots;
DROP TABLE limits;
DROP TABLE otp_failures;
DROP TABLE otp_challenges;
DROP TABLE sessions;
DROP TABLE devices;
DROP TABLE coaches;
DROP TABLE accounts;
DROP TABLE secrets;
