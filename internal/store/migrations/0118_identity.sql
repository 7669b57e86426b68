-- Proofs that guardians are adults.

-- +goose Up

-- The newest proof of each account, which is a number in a role. The account ends with its number, and so does the proof. There is no birth
-- date, document or name. A proof counts until ends_at.
CREATE TABLE adult_proofs (
	account_id   TEXT   NOT NULL PRIMARY KEY REFERENCES accounts (id),
	-- oidc, digilocker or operator
	method       TEXT   NOT NULL,
	provider     TEXT   NOT NULL,
	proved_at    BIGINT NOT NULL,
	ends_at      BIGINT NOT NULL,
	-- What the provider calls its level.
	assurance    TEXT,
	-- Whether the provider knows the name that the coach entered: same, similar, other or unknown.
	name_fit     TEXT   NOT NULL,
	-- The keyed hash of issuer and subject; NULL for papers.
	subject_hash BYTEA,
	-- Why operators look at the proof: name (another one) or numbers (the same person proved many); NULL otherwise.
	flag         TEXT,
	-- When the person was told that the proof ends, and when the approvals that need it ended.
	told_at      BIGINT,
	ended_at     BIGINT
);
CREATE INDEX adult_proofs_by_end ON adult_proofs (ends_at, account_id) WHERE ended_at IS NULL;
CREATE INDEX adult_proofs_of_subject ON adult_proofs (subject_hash, account_id) WHERE subject_hash IS NOT NULL;
CREATE INDEX adult_proofs_flagged ON adult_proofs (account_id) WHERE flag IS NOT NULL;

-- What guardians began at providers. state is started, checking, answered, valid or failed; failure says why it failed. result is what a
-- provider said while the person has not signed in to the browser in which the provider answered.
CREATE TABLE proof_attempts (
	id         TEXT    NOT NULL PRIMARY KEY,
	account_id TEXT    NOT NULL REFERENCES accounts (id),
	player_id  TEXT    NOT NULL REFERENCES players (id),
	provider   TEXT    NOT NULL,
	-- The hash of the state that the browser brings back.
	state_hash BYTEA   NOT NULL UNIQUE,
	state      TEXT    NOT NULL,
	failure    TEXT,
	result     TEXT,
	-- Where an app wants its person back.
	return_to  TEXT,
	via        TEXT    NOT NULL,
	started_at BIGINT  NOT NULL
);
CREATE INDEX proof_attempts_of_account ON proof_attempts (account_id, started_at, id);
CREATE INDEX proof_attempts_by_time ON proof_attempts (started_at);
