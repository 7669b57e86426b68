-- Operators' tokens, sessions and audit log.

-- +goose Up

CREATE TABLE operator_tokens (
	id           TEXT   NOT NULL PRIMARY KEY,
	name         TEXT   NOT NULL,
	hash         BYTEA  NOT NULL UNIQUE,
	scopes       TEXT   NOT NULL,
	created_at   BIGINT NOT NULL,
	ends_at      BIGINT NOT NULL,
	last_used_at BIGINT,
	revoked_at   BIGINT
);

-- An operator's session in a browser. It also ends with its token.
CREATE TABLE operator_sessions (
	id         TEXT   NOT NULL PRIMARY KEY,
	hash       BYTEA  NOT NULL UNIQUE,
	token_id   TEXT   NOT NULL REFERENCES operator_tokens (id),
	created_at BIGINT NOT NULL,
	ends_at    BIGINT NOT NULL
);
CREATE INDEX operator_sessions_by_end ON operator_sessions (ends_at);

-- operator_id is a token, or empty for an action in a shell. No job deletes rows. count
-- is 1, but for introspection: one row has all calls of a token in the minute at.
CREATE TABLE audit_log (
	id            TEXT   NOT NULL PRIMARY KEY,
	at            BIGINT NOT NULL,
	operator_id   TEXT,
	operator_name TEXT   NOT NULL,
	action        TEXT   NOT NULL,
	object_kind   TEXT   NOT NULL,
	object_id     TEXT   NOT NULL,
	detail        TEXT   NOT NULL,
	count         BIGINT NOT NULL DEFAULT 1
);
CREATE UNIQUE INDEX audit_log_introspections ON audit_log (operator_id, at) WHERE action = 'token.introspect';
CREATE INDEX audit_log_of_object ON audit_log (object_id, id);
