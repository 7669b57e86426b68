-- Replies (STOP, START) that were handled: a provider may repeat a call.

-- +goose Up

CREATE TABLE handled_replies (
	hash       BYTEA  NOT NULL PRIMARY KEY,
	handled_at BIGINT NOT NULL
);
CREATE INDEX handled_replies_by_time ON handled_replies (handled_at);

-- +goose Down
DROP TABLE handled_replies;
