-- Fees, payments and receipts.

-- +goose Up

-- Orders that repeat each month. made counts the months that have their fees; the next
-- one is made at next_at.
CREATE TABLE fee_repeats (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL REFERENCES accounts (id),
	player_id  TEXT   REFERENCES players (id),
	batch_id   TEXT   REFERENCES batches (id),
	title      TEXT   NOT NULL,
	amount     BIGINT NOT NULL,
	currency   TEXT   NOT NULL,
	due_on     TEXT   NOT NULL,
	until_on   TEXT,
	made       BIGINT NOT NULL,
	next_at    BIGINT,
	ended_at   BIGINT,
	created_at BIGINT NOT NULL,
	version    BIGINT NOT NULL
);
CREATE INDEX fee_repeats_due ON fee_repeats (next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX fee_repeats_of_coach ON fee_repeats (coach_id, id) WHERE next_at IS NOT NULL;

-- Amounts are in minor units of the currency. paid is the sum of the payments that were
-- not reversed. series_id is common to the fees of one order; period counts its months.
-- remind_at is when the parties are reminded next. reminded_count counts the reminders
-- that the coach sent on the day reminded_on.
CREATE TABLE fees (
	id             TEXT   NOT NULL PRIMARY KEY,
	coach_id       TEXT   NOT NULL REFERENCES accounts (id),
	player_id      TEXT   NOT NULL REFERENCES players (id),
	batch_id       TEXT   REFERENCES batches (id),
	series_id      TEXT,
	period         BIGINT NOT NULL,
	title          TEXT   NOT NULL,
	amount         BIGINT NOT NULL,
	currency       TEXT   NOT NULL,
	due_on         TEXT   NOT NULL,
	status         TEXT   NOT NULL,
	paid           BIGINT NOT NULL,
	reason         TEXT,
	closed_at      BIGINT,
	remind_at      BIGINT,
	reminded_on    TEXT,
	reminded_count BIGINT NOT NULL,
	-- When a party said that it has paid, and which one.
	told_at        BIGINT,
	told_by        TEXT,
	told_guardian  TEXT,
	created_at     BIGINT NOT NULL,
	version        BIGINT NOT NULL
);
CREATE INDEX fees_of_coach ON fees (coach_id, due_on, id);
CREATE INDEX fees_by_status ON fees (coach_id, status, due_on, id);
CREATE INDEX fees_of_player ON fees (player_id, due_on, id);
CREATE INDEX fees_of_batch ON fees (batch_id, due_on, id) WHERE batch_id IS NOT NULL;
CREATE INDEX fees_to_remind ON fees (remind_at, id) WHERE remind_at IS NOT NULL;
-- A month of a series has one fee for each player, also if two replicas make it.
CREATE UNIQUE INDEX fees_once ON fees (series_id, period, player_id) WHERE series_id IS NOT NULL;
CREATE INDEX fees_unpaid ON fees (coach_id, currency, due_on, amount, paid) WHERE status = 'open';

-- A payment is reversed, never changed. receipt numbers the payments of a coach without gaps.
CREATE TABLE fee_payments (
	id          TEXT   NOT NULL PRIMARY KEY,
	coach_id    TEXT   NOT NULL,
	fee_id      TEXT   NOT NULL REFERENCES fees (id),
	receipt     BIGINT NOT NULL,
	amount      BIGINT NOT NULL,
	method      TEXT   NOT NULL,
	paid_on     TEXT   NOT NULL,
	note        TEXT,
	created_at  BIGINT NOT NULL,
	reversed_at BIGINT,
	reason      TEXT
);
CREATE UNIQUE INDEX fee_payments_by_receipt ON fee_payments (coach_id, receipt);
CREATE INDEX fee_payments_of_fee ON fee_payments (fee_id, receipt);

-- The last receipt number of a coach. Its row is locked until the payment commits.
CREATE TABLE fee_receipts (
	coach_id TEXT   NOT NULL PRIMARY KEY REFERENCES accounts (id),
	last     BIGINT NOT NULL
);
