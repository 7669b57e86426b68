-- Messages on their way: deliveries, their limits and costs, and what people want.

-- +goose Up

-- Deliveries are the outbox and the log of each request's channels. A row contains
-- no OTP and no text: the worker renders both when it sends. A worker claims the rows
-- of one channel and kind in the order of due_at; only the holder of lease may complete
-- a row. The lease holds until lease_ends_at. No index has a column that a claim or an attempt changes, so on PostgreSQL
-- these write no index entries; claimed_at is the time of the newest claim. network is where the coach asked for the message. counted: the message limits
-- have admitted it. held_by: the limit that it waits for. gathered_by: the delivery whose
-- message carries this one; it carries itself too.
CREATE TABLE deliveries (
	id              TEXT    NOT NULL PRIMARY KEY,
	kind            TEXT    NOT NULL,
	channel         TEXT    NOT NULL,
	state           TEXT    NOT NULL,
	reason          TEXT,
	account_id      TEXT,
	recipient       TEXT    NOT NULL,
	role            TEXT    NOT NULL,
	coach_id        TEXT,
	request_id      TEXT,
	challenge_id    TEXT,
	device_id       TEXT,
	notification_id TEXT,
	attempts        INTEGER NOT NULL,
	due_at          BIGINT  NOT NULL,
	gives_up_at     BIGINT  NOT NULL,
	lease           TEXT,
	lease_ends_at   BIGINT,
	claimed_at      BIGINT,
	created_at      BIGINT  NOT NULL,
	updated_at      BIGINT  NOT NULL,
	network         TEXT,
	counted         BOOLEAN NOT NULL DEFAULT FALSE,
	held_by         TEXT,
	gathered_by     TEXT,
	-- read_at: when the recipient read the message, where the channel says so.
	read_at         BIGINT,
	-- total_attempts counts the attempts since the delivery was created; attempts counts
	-- attempts since it was queued last. cause says why it was not delivered, in words of package message.
	total_attempts  INTEGER NOT NULL DEFAULT 0,
	cause           TEXT,
	-- The state left_out is for channels that do not reach a recipient.
	team_message_id TEXT,
	team_position   INTEGER,
	reserved        BOOLEAN NOT NULL DEFAULT FALSE,
	-- left_at is when a provider first accepted the message, NULL before. A
	-- receipt changes updated_at and not left_at.
	left_at         BIGINT,
	-- sending_lease is the lease under which a worker gives the message to its provider. While it equals the lease, the
	-- message may be on its way; a revoke waits for the result.
	sending_lease   TEXT,
	-- stays: the message leaves on no other channel. provider_id is WhatsApp's id of the message.
	stays           BOOLEAN NOT NULL DEFAULT FALSE,
	provider_id     TEXT,
	-- trace_parent is the W3C traceparent of the request that asked for the message.
	trace_parent    TEXT,
	CHECK (lease IS NULL OR state = 'queued')
);
CREATE INDEX deliveries_due ON deliveries (channel, kind, due_at, id) WHERE state = 'queued';
CREATE INDEX deliveries_of_request ON deliveries (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (held_by, id) WHERE state = 'queued' AND held_by IS NOT NULL;
-- What waits to be gathered, or for a limit.
CREATE INDEX deliveries_waiting ON deliveries (coach_id, reason, recipient, channel) WHERE reason IN ('gathering', 'held');
CREATE INDEX deliveries_gathered ON deliveries (gathered_by) WHERE gathered_by IS NOT NULL;
-- Used to delete OTPs and copies of notifications some days after they are done. Ids are in the order of time.
CREATE INDEX deliveries_brief ON deliveries (id) WHERE kind IN ('otp', 'notice');
CREATE INDEX deliveries_of_message ON deliveries (team_message_id, team_position, id) WHERE team_message_id IS NOT NULL;
CREATE INDEX deliveries_not_sent ON deliveries (updated_at, id)
	WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted', 'stopped', 'disputed', 'contact_changed', 'player_removed');
CREATE INDEX deliveries_not_sent_of_coach ON deliveries (coach_id, updated_at, id)
	WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted', 'stopped', 'disputed', 'contact_changed', 'player_removed');
-- Those of a request are found by the request.
CREATE INDEX deliveries_of_account ON deliveries (account_id, state) WHERE account_id IS NOT NULL AND request_id IS NULL;
-- Used to find the message to which a person replied.
CREATE INDEX deliveries_of_provider ON deliveries (provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX deliveries_of_recipient ON deliveries (recipient, id) WHERE recipient <> '';

-- What the message limits have counted in the last days. size is what was added to the
-- counter at counted_at, total all that was added up to then. The sweep finds old rows along the key: an index by
-- time would cost each message as much as the rows.
CREATE TABLE message_counts (
	counter    TEXT   NOT NULL,
	counted_at BIGINT NOT NULL,
	size       BIGINT NOT NULL,
	total      BIGINT NOT NULL,
	PRIMARY KEY (counter, counted_at)
);

-- One row for each day (UTC, its start), coach and channel. coach_id is empty for OTPs and for messages
-- of coaches who have left. cost is in the unit of Settings.SegmentPrice.
CREATE TABLE message_costs (
	day      BIGINT NOT NULL,
	coach_id TEXT   NOT NULL,
	channel  TEXT   NOT NULL,
	messages BIGINT NOT NULL,
	segments BIGINT NOT NULL,
	cost     BIGINT NOT NULL,
	PRIMARY KEY (day, coach_id, channel)
);
CREATE INDEX message_costs_of_coach ON message_costs (coach_id, day, channel);

-- Until ends_at later requests of a coach to a number leave together.
CREATE TABLE gather_windows (
	coach_id TEXT   NOT NULL,
	number   TEXT   NOT NULL,
	ends_at  BIGINT NOT NULL,
	PRIMARY KEY (coach_id, number)
);
CREATE INDEX gather_windows_by_end ON gather_windows (ends_at);

-- What the person with a number chose, for every role. A number need not have a row.
CREATE TABLE preferences (
	mobile_number TEXT   NOT NULL PRIMARY KEY,
	language      TEXT,
	time_zone     TEXT,
	updated_at    BIGINT NOT NULL,
	-- Minutes after midnight in the person's time zone; equal without quiet hours. channels is
	-- JSON: the chosen channels by kind.
	quiet_start   INTEGER NOT NULL DEFAULT 0,
	quiet_end     INTEGER NOT NULL DEFAULT 0,
	channels      TEXT   NOT NULL DEFAULT '{}'
);

-- Messages of the coach to the number stay in the app. by_reply: by a STOP, which START ends. told: the STOP was
-- answered. Of a number without an account, mobile_number is DB.KeptNumber. The stops of a coach who closed the account
-- wait a year for the same number to register.
CREATE TABLE stopped_coaches (
	mobile_number TEXT   NOT NULL,
	coach_id      TEXT   NOT NULL,
	stopped_at    BIGINT NOT NULL,
	by_reply      BOOLEAN NOT NULL DEFAULT FALSE,
	told          BOOLEAN NOT NULL DEFAULT FALSE,
	PRIMARY KEY (mobile_number, coach_id)
);
CREATE INDEX stopped_coaches_of_coach ON stopped_coaches (coach_id, mobile_number);

-- E-mail addresses, in lower case, whose holders want no mail except about the safety of an
-- account.
CREATE TABLE stopped_addresses (
	address    TEXT   NOT NULL PRIMARY KEY,
	stopped_at BIGINT NOT NULL
);

-- When a number wrote to the service by WhatsApp last. For 24 h after that, it takes messages without a template.
CREATE TABLE chat_numbers (
	mobile_number TEXT   NOT NULL PRIMARY KEY,
	wrote_at      BIGINT NOT NULL,
	-- The coach whom the person chose at chosen_at, and when it was asked for a coach, or told that a
	-- coach gets no more today, or can not open a file.
	coach_id      TEXT,
	chosen_at     BIGINT,
	asked_at      BIGINT,
	limited_at    BIGINT,
	file_at       BIGINT,
	-- hints counts what the service said by itself since hint_at, in a day.
	hint_at       BIGINT,
	hints         INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX chat_numbers_by_time ON chat_numbers (wrote_at);

-- The numbers of people whom WhatsApp names by an id of the account. A person can hide the number.
CREATE TABLE chat_users (
	user_id       TEXT   NOT NULL PRIMARY KEY,
	mobile_number TEXT   NOT NULL,
	seen_at       BIGINT NOT NULL
);
CREATE INDEX chat_users_of_number ON chat_users (mobile_number);
CREATE INDEX chat_users_by_time ON chat_users (seen_at);

-- Replies (STOP, START) that were handled: a provider may repeat a call.
CREATE TABLE handled_replies (
	hash       BYTEA  NOT NULL PRIMARY KEY,
	handled_at BIGINT NOT NULL
);
CREATE INDEX handled_replies_by_time ON handled_replies (handled_at);
