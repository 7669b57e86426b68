-- Accounts, sessions, one-time passwords (OTPs) and limits.
-- One text for SQLite and PostgreSQL: ids TEXT (UUIDv7), times BIGINT in UTC
-- microseconds from the service's clock, JSON as TEXT that is never queried.

-- +goose Up

-- Secrets of all replicas, each encrypted under the master key.
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

-- The coach's profile. The first login inserts the row.
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

-- A known device has separate limits for OTP attempts and sends.
CREATE TABLE devices (
	id            TEXT   NOT NULL PRIMARY KEY,
	token_hash    BYTEA  NOT NULL UNIQUE,
	mobile_number TEXT   NOT NULL,
	ends_at       BIGINT NOT NULL
);
CREATE INDEX devices_by_number ON devices (mobile_number);
CREATE INDEX devices_by_end ON devices (ends_at);

-- The account's number and role are copied here, so that one row authenticates a
-- request. generation counts refreshes. used_at is the time of the first use of this
-- generation's tokens, used_before holds those of earlier generations, newest first:
-- 16 digits each, at most eight. page_idle: a session of pages, which ends when it is not
-- used for so many microseconds; refresh_hash is then the hash of its page token.
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
	revoked_at    BIGINT,
	page_idle     BIGINT
);
CREATE INDEX sessions_of_account ON sessions (account_id, id) WHERE revoked_at IS NULL;
CREATE INDEX sessions_by_end ON sessions (ends_at);

-- One challenge for each number, role and device; all unknown devices share ''.
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

-- One row per code that was sent, for the rule against toll fraud: the number without
-- its last four digits, the country unless it is the default region, and the network
-- that requested the code. The row may be deleted an hour after ends_at.
CREATE TABLE otp_sends (
	challenge_id TEXT    NOT NULL PRIMARY KEY,
	block        TEXT    NOT NULL,
	country      TEXT    NOT NULL,
	network      TEXT    NOT NULL,
	ends_at      BIGINT  NOT NULL,
	used         BOOLEAN NOT NULL
);
CREATE INDEX otp_sends_by_block ON otp_sends (block, ends_at);
CREATE INDEX otp_sends_by_country ON otp_sends (country, ends_at) WHERE country <> '';
CREATE INDEX otp_sends_by_end ON otp_sends (ends_at);

-- The times of wrong attempts at all OTPs of a number or a device, newest first: 16
-- digits each. Every attempt is refused until blocked_until. The row may be deleted
-- after ends_at.
CREATE TABLE otp_failures (
	who           TEXT   NOT NULL PRIMARY KEY,
	times         TEXT   NOT NULL,
	blocked_until BIGINT NOT NULL,
	ends_at       BIGINT NOT NULL
);
CREATE INDEX otp_failures_by_end ON otp_failures (ends_at);

-- A large limit has shards, so that concurrent requests lock different rows. Each shard
-- numbers its occurrences. One takes the slot of its number modulo the limit of the shard;
-- the previous occurrence in that slot must have left the window.
CREATE TABLE limits (
	key         TEXT    NOT NULL,
	shard       INTEGER NOT NULL,
	occurrences BIGINT  NOT NULL,
	ends_at     BIGINT  NOT NULL,
	PRIMARY KEY (key, shard)
);
CREATE INDEX limits_by_end ON limits (ends_at);
CREATE TABLE limit_slots (
	key     TEXT   NOT NULL,
	slot    BIGINT NOT NULL,
	free_at BIGINT NOT NULL,
	PRIMARY KEY (key, slot)
);
CREATE INDEX limit_slots_by_end ON limit_slots (free_at);

-- First responses for an Idempotency-Key, encrypted. status 0: still running; 1: the work
-- is committed, its response can be rebuilt from work (JSON); else that of the response.
CREATE TABLE kept_answers (
	owner       TEXT    NOT NULL,
	key         TEXT    NOT NULL,
	fingerprint BYTEA   NOT NULL,
	status      INTEGER NOT NULL,
	answer      BYTEA,
	work        TEXT,
	lease       TEXT    NOT NULL,
	lease_ends_at BIGINT NOT NULL,
	ends_at     BIGINT  NOT NULL,
	PRIMARY KEY (owner, key)
);
CREATE INDEX kept_answers_by_end ON kept_answers (ends_at);

-- +goose Down
DROP TABLE kept_answers;
DROP TABLE limit_slots;
DROP TABLE limits;
DROP TABLE otp_failures;
DROP TABLE otp_sends;
DROP TABLE otp_challenges;
DROP TABLE sessions;
DROP TABLE devices;
DROP TABLE coaches;
DROP TABLE accounts;
DROP TABLE secrets;
