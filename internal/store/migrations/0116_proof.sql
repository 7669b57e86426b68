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

-- The key of a record and the values behind the digests of its body, sealed, with what finds the record. Deleting the row
-- erases the record: the body alone names no person and cannot be guessed. version is the version of the player.
CREATE TABLE record_keys (
	record_id  TEXT   NOT NULL PRIMARY KEY,
	player_id  TEXT   NOT NULL,
	party      TEXT   NOT NULL,
	account_id TEXT   NOT NULL,
	version    BIGINT NOT NULL,
	sealed     BYTEA  NOT NULL
);
CREATE INDEX record_keys_of_party ON record_keys (player_id, party, version, record_id);
CREATE INDEX record_keys_of_account ON record_keys (account_id, record_id);
