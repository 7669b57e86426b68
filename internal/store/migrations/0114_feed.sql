-- Webhooks.

-- +goose Up

-- types are the types of changes that are sent; each ends with a comma. position is the place
-- in the feed: changes up to it are messages. The secrets are sealed. A replay queues the changes
-- from replay_first to replay_end again; those up to replay_at are queued.
CREATE TABLE webhooks (
	id                 TEXT   NOT NULL PRIMARY KEY,
	url                TEXT   NOT NULL,
	description        TEXT   NOT NULL,
	types              TEXT   NOT NULL,
	secret             BYTEA  NOT NULL,
	old_secret         BYTEA,
	old_secret_ends_at BIGINT,
	position           BIGINT NOT NULL,
	version            BIGINT NOT NULL,
	paused_until       BIGINT,
	failing_since      BIGINT,
	accepted_at        BIGINT,
	disabled_at        BIGINT,
	disabled_reason    TEXT,
	created_at         BIGINT NOT NULL,
	updated_at         BIGINT NOT NULL,
	replay_first       BIGINT,
	replay_at          BIGINT,
	replay_end         BIGINT
);
CREATE INDEX webhooks_enabled ON webhooks (id) WHERE disabled_at IS NULL;

-- A message to one webhook: a copy of a change, so that it can be sent when the feed has
-- deleted the change. A test has no player. state is queued, delivered or failed; status and
-- error are of the last attempt. attempt_log is a JSON list of the newest attempts.
CREATE TABLE webhook_messages (
	webhook_id     TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	id             TEXT    NOT NULL,
	player_id      TEXT,
	sequence       BIGINT,
	type           TEXT    NOT NULL,
	party          TEXT,
	guardian_state TEXT    NOT NULL,
	student_state  TEXT    NOT NULL,
	at             BIGINT  NOT NULL,
	state          TEXT    NOT NULL,
	attempts       INTEGER NOT NULL,
	due_at         BIGINT  NOT NULL,
	lease          TEXT,
	status         INTEGER NOT NULL,
	error          TEXT    NOT NULL,
	created_at     BIGINT  NOT NULL,
	updated_at     BIGINT  NOT NULL,
	attempt_log    TEXT,
	guardian_id    TEXT,
	PRIMARY KEY (webhook_id, id)
);
CREATE INDEX webhook_messages_due ON webhook_messages (webhook_id, due_at, id) WHERE state = 'queued';
CREATE INDEX webhook_messages_of_player ON webhook_messages (webhook_id, player_id, sequence) WHERE state = 'queued';
CREATE INDEX webhook_messages_log ON webhook_messages (webhook_id, at, id);
CREATE INDEX webhook_messages_failed ON webhook_messages (webhook_id, at, id) WHERE state = 'failed';
CREATE INDEX webhook_messages_done ON webhook_messages (updated_at) WHERE state <> 'queued';
