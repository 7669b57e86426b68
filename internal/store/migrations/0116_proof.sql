-- Records of consents and the log that proves them.

-- +goose Up

-- Each change of a consent is one row. body has the exact bytes that the log proves: canonical JSON without names, numbers
-- or ids of people. position is the index in the log, from 0; NULL until the row is numbered.
CREATE TABLE consent_records (
	id       TEXT   NOT NULL PRIMARY KEY,
	body     BYTEA  NOT NULL,
	at       BIGINT NOT NULL,
	position BIGINT
);
CREATE UNIQUE INDEX consent_records_by_position ON consent_records (position) WHERE position IS NOT NULL;
CREATE INDEX consent_records_waiting ON consent_records (at, id) WHERE position IS NULL;

-- The key of a record and the values behind the digests of its body, sealed, with what finds the record. sealed is NULL
-- after an erasure: the body alone names no person and cannot be guessed. version is the version of the player. player_id of the
-- record of an account that was erased is that account.
CREATE TABLE record_keys (
	record_id  TEXT   NOT NULL PRIMARY KEY,
	player_id  TEXT   NOT NULL,
	party      TEXT   NOT NULL,
	account_id TEXT   NOT NULL,
	version    BIGINT NOT NULL,
	sealed     BYTEA,
	-- The guardian whose consent it is; empty for the student.
	guardian_id TEXT  NOT NULL DEFAULT ''
);
CREATE INDEX record_keys_of_party ON record_keys (player_id, party, version, record_id);
CREATE INDEX record_keys_of_account ON record_keys (account_id, record_id);

-- The tiles of the log (C2SP tlog-tiles): up to 256 hashes of 32 bytes. Level 0 has the hashes of the entries, 256 in each tile.
CREATE TABLE log_tiles (
	level  INTEGER NOT NULL,
	n      BIGINT  NOT NULL,
	hashes BYTEA   NOT NULL,
	PRIMARY KEY (level, n)
);

-- The hashes of the entries of the newest tile of level 0 while it has less than 256, by the position of the record. A full tile is a row of
-- log_tiles instead.
CREATE TABLE log_hashes (
	position BIGINT NOT NULL PRIMARY KEY,
	hash     BYTEA  NOT NULL
);

-- One row: the name of the log, how often it was continued under another one, its size and its newest signed checkpoint.
-- While stopped_at is set, no checkpoint is signed and no record gets a position. Its lock lets one transaction at a time
-- give positions. cosign is the checkpoint that all witnesses are asked to cosign, since cosign_at.
CREATE TABLE consent_log (
	id             BIGINT NOT NULL PRIMARY KEY,
	origin         TEXT   NOT NULL,
	generation     BIGINT NOT NULL,
	size           BIGINT NOT NULL,
	checkpoint     BYTEA,
	stopped_at     BIGINT,
	stopped_reason TEXT,
	cosign         BYTEA,
	cosign_at      BIGINT
);
INSERT INTO consent_log (id, origin, generation, size) VALUES (1, '', 1, 0);

-- The URLs and witnesses that get checkpoints, by the hash of the setting. published is the checkpoint that one took last, and due_at is
-- when it may get another one. While lease is set, a replica is sending.
CREATE TABLE log_destinations (
	id            TEXT    NOT NULL PRIMARY KEY,
	published     BYTEA,
	published_at  BIGINT,
	due_at        BIGINT  NOT NULL,
	lease         TEXT,
	attempts      INTEGER NOT NULL,
	failing_since BIGINT
);

-- Cosignatures of checkpoints: signature lines of a witness, which is a row of log_destinations. origin and size are of the
-- checkpoint. The newest two of each witness are kept.
CREATE TABLE log_cosignatures (
	origin      TEXT   NOT NULL,
	size        BIGINT NOT NULL,
	witness     TEXT   NOT NULL,
	checkpoint  BYTEA  NOT NULL,
	lines       TEXT   NOT NULL,
	cosigned_at BIGINT NOT NULL,
	PRIMARY KEY (origin, size, witness)
);
CREATE INDEX log_cosignatures_of_witness ON log_cosignatures (witness);
