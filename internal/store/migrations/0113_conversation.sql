-- Messages of coaches to families, and replies.

-- +goose Up

CREATE TABLE message_templates (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL REFERENCES accounts (id),
	title      TEXT   NOT NULL,
	body       TEXT   NOT NULL,
	created_at BIGINT NOT NULL
);
CREATE INDEX message_templates_of_coach ON message_templates (coach_id, id);

-- A message is one row from the moment it is accepted. Its recipients get their rows later,
-- some at a time: next_player is the index of the next player in players, next_position the
-- next position in team_recipients. players is a JSON list of ids in order.
CREATE TABLE team_messages (
	id            TEXT    NOT NULL PRIMARY KEY,
	coach_id      TEXT    NOT NULL REFERENCES accounts (id),
	batch_id      TEXT,
	to_all        BOOLEAN NOT NULL,
	players       TEXT    NOT NULL,
	audience      TEXT    NOT NULL,
	channels      TEXT    NOT NULL,
	body          TEXT    NOT NULL,
	network       TEXT,
	recipients    INTEGER NOT NULL,
	left_out      INTEGER NOT NULL,
	segments      INTEGER NOT NULL,
	next_player   INTEGER NOT NULL,
	next_position INTEGER NOT NULL,
	created_at    BIGINT  NOT NULL,
	expanded_at   BIGINT,
	-- expand_at is when the worker tries next, and NULL after the last attempt.
	expand_at     BIGINT  DEFAULT 0,
	expand_failures INTEGER NOT NULL DEFAULT 0,
	-- How many people a message reaches, and how many it leaves out, as they were planned.
	people        BIGINT,
	people_left_out BIGINT,
	-- trace_parent is the W3C traceparent of the request of the coach.
	trace_parent TEXT,
	-- The only guardian whom a message to guardians is for; NULL for all.
	guardian_id  TEXT,
	-- A message to all, to a batch or to several players, not to one player.
	broadcast    BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE INDEX team_messages_of_coach ON team_messages (coach_id, id);
CREATE INDEX team_messages_broadcast ON team_messages (coach_id, id) WHERE broadcast = TRUE;
-- A coach's messages are expanded one after the other.
CREATE INDEX team_messages_waiting ON team_messages (id) WHERE expanded_at IS NULL;
CREATE INDEX team_messages_waiting_of_coach ON team_messages (coach_id, id) WHERE expanded_at IS NULL;

-- One row for each party that a message is for, also if no channel reaches it. is_copy: a
-- guardian who gets what a student under 18 gets. The deliveries say what became of it.
CREATE TABLE team_recipients (
	message_id TEXT    NOT NULL REFERENCES team_messages (id),
	position   INTEGER NOT NULL,
	player_id  TEXT    NOT NULL,
	party      TEXT    NOT NULL,
	account_id TEXT,
	is_copy    BOOLEAN NOT NULL,
	guardian_id TEXT   NOT NULL DEFAULT '', -- empty for the student
	PRIMARY KEY (message_id, position)
);
CREATE INDEX team_recipients_of_party ON team_recipients (account_id, player_id, message_id);
CREATE INDEX team_recipients_of_player ON team_recipients (player_id, message_id, position);

CREATE TABLE team_replies (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL,
	player_id  TEXT   NOT NULL REFERENCES players (id),
	party      TEXT   NOT NULL,
	account_id TEXT   NOT NULL REFERENCES accounts (id),
	body       TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	read_at    BIGINT,
	-- How it arrived: in_app, chat or sms.
	channel    TEXT   NOT NULL DEFAULT 'in_app',
	guardian_id TEXT  NOT NULL DEFAULT '' -- empty for the student
);
CREATE INDEX team_replies_of_coach ON team_replies (coach_id, id);
CREATE INDEX team_replies_unread ON team_replies (coach_id, id) WHERE read_at IS NULL;
CREATE INDEX team_replies_of_party ON team_replies (account_id, player_id, id);
CREATE INDEX team_replies_of_player ON team_replies (player_id, id);

-- Texts by WhatsApp from a number of several coaches, until the person says which coach is meant.
CREATE TABLE chat_held (
	id            TEXT   NOT NULL PRIMARY KEY,
	mobile_number TEXT   NOT NULL,
	channel       TEXT   NOT NULL,
	body          TEXT   NOT NULL,
	created_at    BIGINT NOT NULL
);
CREATE INDEX chat_held_of_number ON chat_held (mobile_number);
CREATE INDEX chat_held_by_time ON chat_held (created_at);

-- A conversation of a coach with a party of a player, over all channels. ended: the coach removed the player.
-- line_id is the newest reply, or message to this player alone, and line_at its time. Broadcasts count only for last_at.
CREATE TABLE conversations (
	player_id TEXT    NOT NULL REFERENCES players (id),
	party     TEXT    NOT NULL,
	coach_id  TEXT    NOT NULL,
	last_at   BIGINT  NOT NULL,
	ended     BOOLEAN NOT NULL DEFAULT FALSE,
	guardian_id TEXT  NOT NULL DEFAULT '', -- empty for the student
	line_at   BIGINT,
	line_id   TEXT,
	PRIMARY KEY (player_id, party, guardian_id)
);
CREATE INDEX conversations_lines ON conversations (coach_id, line_at, player_id, party, guardian_id) WHERE ended = FALSE AND line_at IS NOT NULL;
CREATE INDEX conversations_of_coach ON conversations (coach_id, last_at, player_id, party, guardian_id) WHERE ended = FALSE;
