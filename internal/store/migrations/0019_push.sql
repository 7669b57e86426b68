-- Subscriptions for push messages.

-- +goose Up

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

-- +goose Down
DROP TABLE push_subscriptions;
