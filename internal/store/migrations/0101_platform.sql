-- Keys and settings of the installation, limits, repeated calls, certificates and stored files.

-- +goose Up

-- Secrets of all replicas, each encrypted under the master key.
CREATE TABLE secrets (
	id         TEXT   NOT NULL PRIMARY KEY,
	purpose    TEXT   NOT NULL,
	sealed     BYTEA  NOT NULL,
	created_at BIGINT NOT NULL,
	active_at  BIGINT NOT NULL,
	ends_at    BIGINT NOT NULL
);

-- Facts about the installation, such as which file store belongs to it.
CREATE TABLE installation (
	name  TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);

-- How many occurrences of what a limit bounds there were. A request locks the row to count.
CREATE TABLE limits (
	key         TEXT   NOT NULL PRIMARY KEY,
	occurrences BIGINT NOT NULL,
	ends_at     BIGINT NOT NULL
);
CREATE INDEX limits_by_end ON limits (ends_at);

-- When each occurrence was. number counts from 1. The row may be deleted after ends_at.
CREATE TABLE limit_occurrences (
	key     TEXT   NOT NULL,
	number  BIGINT NOT NULL,
	at      BIGINT NOT NULL,
	ends_at BIGINT NOT NULL,
	PRIMARY KEY (key, number)
);
CREATE INDEX limit_occurrences_by_end ON limit_occurrences (ends_at);

-- How many occurrences of a limit that all callers share there were in a minute. A minute has some
-- counters, its shards, so that not all requests wait for one row.
CREATE TABLE limit_minutes (
	key         TEXT    NOT NULL,
	minute      BIGINT  NOT NULL,
	shard       INTEGER NOT NULL,
	occurrences BIGINT  NOT NULL,
	ends_at     BIGINT  NOT NULL,
	PRIMARY KEY (key, minute, shard)
);
CREATE INDEX limit_minutes_by_end ON limit_minutes (ends_at);

-- First responses for an Idempotency-Key, encrypted. status 0: still running; 1: the work
-- is committed, its response can be rebuilt from work (JSON); else the status of the response.
CREATE TABLE kept_answers (
	owner       TEXT    NOT NULL,
	key         TEXT    NOT NULL,
	fingerprint BYTEA   NOT NULL,
	status      INTEGER NOT NULL,
	answer      BYTEA,
	work        TEXT,
	lease       TEXT    NOT NULL,
	lease_ends_at BIGINT NOT NULL,
	ends_at     BIGINT  NOT NULL,
	PRIMARY KEY (owner, key)
);
CREATE INDEX kept_answers_by_end ON kept_answers (ends_at);

-- What all replicas share of TLS_AUTOCERT_DOMAINS: the key of the account, the certificates with
-- their keys, and the answers to challenges. sealed is NULL while a replica gets the entry;
-- another one may try after claim_ends_at.
CREATE TABLE tls_entries (
	name          TEXT   NOT NULL PRIMARY KEY,
	sealed        BYTEA,
	claim_ends_at BIGINT NOT NULL
);

-- Bytes in the file store. A row exists from before the first byte is written until
-- after the last one is deleted. ends_at is when the bytes may be deleted, NULL while a
-- document names them.
CREATE TABLE blobs (
	key        TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL,
	size       BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	ends_at    BIGINT
);
CREATE INDEX blobs_by_end ON blobs (ends_at, key) WHERE ends_at IS NOT NULL;
-- Used to delete a coach's data when the account is closed.
CREATE INDEX blobs_of_coach ON blobs (coach_id) WHERE ends_at IS NULL;
