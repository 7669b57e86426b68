-- The notice to families.

-- +goose Up

-- Every text of the notice that a replica had, by language. version counts the texts of a language from 1;
-- hash is the SHA-256 of text in hexadecimal digits.
CREATE TABLE notices (
	language   TEXT   NOT NULL,
	version    BIGINT NOT NULL,
	hash       TEXT   NOT NULL,
	text       TEXT   NOT NULL,
	first_seen BIGINT NOT NULL,
	PRIMARY KEY (language, version)
);
CREATE UNIQUE INDEX notices_hash ON notices (hash, language);

-- Erasures that were committed, by the id of the erased player or account. Each replica appends them to its file
-- ERASURES, from which they are repeated after an older database was restored. kind is player or a role.
CREATE TABLE erasures (
	object_id TEXT   NOT NULL PRIMARY KEY,
	kind      TEXT   NOT NULL,
	erased_at BIGINT NOT NULL
);
CREATE INDEX erasures_by_time ON erasures (erased_at, object_id);
