-- Messages of coaches to families, replies, templates, progress and reports.

-- +goose Up

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
	expanded_at   BIGINT
);
CREATE INDEX team_messages_of_coach ON team_messages (coach_id, id);
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
	PRIMARY KEY (message_id, position)
);
CREATE INDEX team_recipients_of_party ON team_recipients (account_id, player_id, message_id);
CREATE INDEX team_recipients_of_player ON team_recipients (player_id, message_id, position);

-- The state left_out is for channels that do not reach a recipient.
ALTER TABLE deliveries ADD COLUMN team_message_id TEXT;
ALTER TABLE deliveries ADD COLUMN team_position INTEGER;
CREATE INDEX deliveries_of_message ON deliveries (team_message_id, team_position, id) WHERE team_message_id IS NOT NULL;
-- Used to count the messages of a coach to a number in a week.
CREATE INDEX deliveries_of_team ON deliveries (coach_id, recipient, created_at) WHERE kind = 'team' AND state <> 'left_out';

-- Used to find parties that have approved a player of a coach at any time.
CREATE INDEX approval_history_of_approver ON approval_history (approver_id, player_id) WHERE action = 'approved';

CREATE TABLE team_replies (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL,
	player_id  TEXT   NOT NULL REFERENCES players (id),
	party      TEXT   NOT NULL,
	account_id TEXT   NOT NULL REFERENCES accounts (id),
	body       TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	read_at    BIGINT
);
CREATE INDEX team_replies_of_coach ON team_replies (coach_id, id);
CREATE INDEX team_replies_unread ON team_replies (coach_id, id) WHERE read_at IS NULL;
CREATE INDEX team_replies_of_party ON team_replies (account_id, player_id, id);
CREATE INDEX team_replies_of_player ON team_replies (player_id, id);

CREATE TABLE message_templates (
	id         TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL REFERENCES accounts (id),
	title      TEXT   NOT NULL,
	body       TEXT   NOT NULL,
	created_at BIGINT NOT NULL
);
CREATE INDEX message_templates_of_coach ON message_templates (coach_id, id);

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

-- +goose Down
DROP TABLE performance_reports;
DROP TABLE measurements;
DROP TABLE message_templates;
DROP TABLE team_replies;
DROP INDEX approval_history_of_approver;
DROP INDEX deliveries_of_team;
DROP INDEX deliveries_of_message;
ALTER TABLE deliveries DROP COLUMN team_position;
ALTER TABLE deliveries DROP COLUMN team_message_id;
DROP TABLE team_recipients;
DROP TABLE team_messages;
