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
