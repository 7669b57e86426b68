-- Notifications in the app, and deliveries.

-- +goose Up

CREATE TABLE notifications (
	account_id TEXT   NOT NULL REFERENCES accounts (id),
	seq        BIGINT NOT NULL,
	id         TEXT   NOT NULL UNIQUE,
	type       TEXT   NOT NULL,
	title      TEXT   NOT NULL,
	body       TEXT   NOT NULL,
	data       TEXT   NOT NULL,
	player_id  TEXT,
	created_at BIGINT NOT NULL,
	read_at    BIGINT,
	PRIMARY KEY (account_id, seq)
);
CREATE INDEX notifications_unread ON notifications (account_id, seq) WHERE read_at IS NULL;
CREATE INDEX notifications_of_player ON notifications (player_id, account_id);

-- Deliveries are the outbox and the log of each request's channels. A row contains
-- no OTP and no text: the worker renders both when it sends. A worker claims the rows
-- of one channel and kind in the order of due_at; only the holder of lease may complete
-- a row. network is where the coach asked for the message. counted: the message limits
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
	request_id      TEXT    REFERENCES requests (id),
	challenge_id    TEXT,
	device_id       TEXT,
	notification_id TEXT,
	attempts        INTEGER NOT NULL,
	due_at          BIGINT  NOT NULL,
	gives_up_at     BIGINT  NOT NULL,
	lease           TEXT,
	created_at      BIGINT  NOT NULL,
	updated_at      BIGINT  NOT NULL,
	network         TEXT,
	counted         BOOLEAN NOT NULL DEFAULT FALSE,
	held_by         TEXT,
	gathered_by     TEXT,
	CHECK (lease IS NULL OR state = 'queued')
);
CREATE INDEX deliveries_due ON deliveries (channel, kind, due_at, id) WHERE state = 'queued';
CREATE INDEX deliveries_of_request ON deliveries (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX deliveries_done ON deliveries (updated_at) WHERE kind = 'otp' AND state <> 'queued';
CREATE INDEX deliveries_failed ON deliveries (updated_at, id) WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted');
CREATE INDEX deliveries_failed_of_coach ON deliveries (coach_id, updated_at, id) WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted');
CREATE INDEX deliveries_held ON deliveries (held_by, id) WHERE state = 'queued' AND held_by IS NOT NULL;
CREATE INDEX deliveries_gathering ON deliveries (coach_id, recipient, channel) WHERE reason = 'gathering';
CREATE INDEX deliveries_gathered ON deliveries (gathered_by) WHERE gathered_by IS NOT NULL;

-- What the message limits have counted in the last days. size is what was added to the
-- counter at counted_at, total all that was added up to then.
CREATE TABLE message_counts (
	counter    TEXT   NOT NULL,
	counted_at BIGINT NOT NULL,
	size       BIGINT NOT NULL,
	total      BIGINT NOT NULL,
	PRIMARY KEY (counter, counted_at)
);
CREATE INDEX message_counts_by_time ON message_counts (counted_at);

-- What the person with a number chose, for every role. A number need not have a row.
CREATE TABLE preferences (
	mobile_number TEXT   NOT NULL PRIMARY KEY,
	language      TEXT,
	time_zone     TEXT,
	updated_at    BIGINT NOT NULL
);

-- +goose Down
DROP TABLE preferences;
DROP TABLE message_counts;
DROP TABLE deliveries;
DROP TABLE notifications;
