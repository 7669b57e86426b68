-- Numbers, devices, sessions, OTPs and push subscriptions.

-- +goose Up

-- An account is a mobile number in one role. tray_seq numbers its notifications.
CREATE TABLE accounts (
	id            TEXT   NOT NULL PRIMARY KEY,
	mobile_number TEXT   NOT NULL,
	role          TEXT   NOT NULL,
	tray_seq      BIGINT NOT NULL DEFAULT 0,
	created_at    BIGINT NOT NULL,
	-- A suspended account cannot sign in.
	suspended_at  BIGINT,
	suspended_why TEXT,
	-- A closed account keeps its id, to which the history refers. Its number is free, and
	-- stored here encrypted as proof of the former owner.
	closed_at     BIGINT,
	closed_number BYTEA,
	UNIQUE (mobile_number, role)
);

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

-- A known device has separate limits for OTP attempts and sends.
CREATE TABLE devices (
	id            TEXT   NOT NULL PRIMARY KEY,
	token_hash    BYTEA  NOT NULL UNIQUE,
	mobile_number TEXT   NOT NULL,
	ends_at       BIGINT NOT NULL
);
CREATE INDEX devices_by_number ON devices (mobile_number);
CREATE INDEX devices_by_end ON devices (ends_at);

-- The device tokens with which a coach signed in, or that were used on the same device as such a token. The rows
-- outlive the device tokens, which a logout of all sessions deletes.
CREATE TABLE coach_devices (
	token_hash BYTEA  NOT NULL,
	coach_id   TEXT   NOT NULL REFERENCES accounts (id),
	ends_at    BIGINT NOT NULL,
	PRIMARY KEY (token_hash, coach_id)
);
CREATE INDEX coach_devices_by_end ON coach_devices (ends_at);
CREATE INDEX coach_devices_of_coach ON coach_devices (coach_id);

-- The account's number and role are copied here, so that one row authenticates a
-- request. generation counts refreshes. used_at is the time of the first use of this
-- generation's tokens; used_before and used_earlier are the times of the two generations
-- before. page_idle: a session of pages, which ends when it is not used for so many
-- microseconds; refresh_hash is then the hash of its page token.
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
	used_before   BIGINT,
	used_earlier  BIGINT,
	created_at    BIGINT NOT NULL,
	last_used_at  BIGINT NOT NULL,
	idle_at       BIGINT NOT NULL,
	ends_at       BIGINT NOT NULL,
	revoked_at    BIGINT,
	page_idle     BIGINT,
	-- A passkey opened the session.
	passkey       BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX sessions_of_account ON sessions (account_id, id) WHERE revoked_at IS NULL;
CREATE INDEX sessions_by_end ON sessions (ends_at);
CREATE INDEX sessions_ended_of_account ON sessions (account_id) WHERE revoked_at IS NOT NULL;

-- One challenge for each number, role and device; all unknown devices share ''.
CREATE TABLE otp_challenges (
	mobile_number TEXT   NOT NULL,
	role          TEXT   NOT NULL,
	device_id     TEXT   NOT NULL,
	id            TEXT   NOT NULL,
	code          BYTEA  NOT NULL,
	attempts      INTEGER NOT NULL,
	sent_at       BIGINT NOT NULL,
	ends_at       BIGINT NOT NULL,
	used_at       BIGINT,
	-- When and with which browser and device somebody asked last. sent_at is 0 if no code has left: the person
	-- asks for it by WhatsApp.
	asked_at      BIGINT NOT NULL,
	asked_with    TEXT   NOT NULL,
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

-- A number or a device that attempted OTPs. An attempt locks the row. Every attempt is
-- refused until blocked_until. The row may be deleted after ends_at.
CREATE TABLE otp_failures (
	who           TEXT   NOT NULL PRIMARY KEY,
	blocked_until BIGINT NOT NULL,
	ends_at       BIGINT NOT NULL
);
CREATE INDEX otp_failures_by_end ON otp_failures (ends_at);

-- When it entered wrong OTPs. Older times than a day are deleted with the next wrong one.
CREATE TABLE otp_failure_times (
	who    TEXT   NOT NULL REFERENCES otp_failures (who) ON DELETE CASCADE,
	number BIGINT NOT NULL,
	at     BIGINT NOT NULL,
	PRIMARY KEY (who, number)
);

-- The e-mail address that the owner of a number confirmed for a role.
CREATE TABLE confirmed_addresses (
	mobile_number TEXT   NOT NULL,
	role          TEXT   NOT NULL,
	address       TEXT   NOT NULL,
	ends_at       BIGINT NOT NULL,
	PRIMARY KEY (mobile_number, role)
);
CREATE INDEX confirmed_addresses_by_end ON confirmed_addresses (ends_at);

-- A passkey signs in as its account without an OTP. credential is its public key with what WebAuthn needs to check it, as
-- JSON. sign_count never goes back.
CREATE TABLE passkeys (
	id            TEXT   NOT NULL PRIMARY KEY,
	account_id    TEXT   NOT NULL REFERENCES accounts (id),
	credential_id BYTEA  NOT NULL UNIQUE,
	name          TEXT,
	credential    TEXT   NOT NULL,
	sign_count    BIGINT NOT NULL,
	created_at    BIGINT NOT NULL,
	last_used_at  BIGINT
);
CREATE INDEX passkeys_of_account ON passkeys (account_id, id);

-- A challenge that a passkey answers once. account_id is the account that adds a passkey, or NULL for a sign-in.
CREATE TABLE passkey_challenges (
	id         TEXT   NOT NULL PRIMARY KEY,
	account_id TEXT,
	data       TEXT   NOT NULL,
	ends_at    BIGINT NOT NULL
);
CREATE INDEX passkey_challenges_of_account ON passkey_challenges (account_id);
CREATE INDEX passkey_challenges_by_end ON passkey_challenges (ends_at);

-- How the browser of a session receives messages. It ends with the session, at ends_at at the
-- latest. endpoint is a keyed hash of the URL of the push service; sealed has the URL and the
-- keys of the browser.
CREATE TABLE push_subscriptions (
	session_id TEXT    NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	id         TEXT    NOT NULL UNIQUE,
	account_id TEXT    NOT NULL,
	role       TEXT    NOT NULL,
	endpoint   BYTEA   NOT NULL,
	sealed     BYTEA   NOT NULL,
	show_names BOOLEAN NOT NULL,
	ends_at    BIGINT  NOT NULL,
	created_at BIGINT  NOT NULL
);
CREATE INDEX push_subscriptions_of_account ON push_subscriptions (account_id, id);
CREATE INDEX push_subscriptions_to_endpoint ON push_subscriptions (endpoint);
CREATE INDEX push_subscriptions_by_end ON push_subscriptions (ends_at);
