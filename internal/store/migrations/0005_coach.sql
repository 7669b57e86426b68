-- What a coach keeps, shows and unlocks: documents, verification, tier, listing.

-- +goose Up

-- An operator may suspend an account: nobody signs in to it then.
ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;
ALTER TABLE accounts ADD COLUMN suspended_why TEXT;

-- tier NULL is the first one of the configuration. players and stored_bytes are
-- what the tier bounds: they grow before they are compared. kyc_state is that of
-- the newest submission. visible and shown are what the coach wishes; what the
-- public sees stands in listings.
ALTER TABLE coaches ADD COLUMN tier TEXT;
ALTER TABLE coaches ADD COLUMN tier_since BIGINT;
ALTER TABLE coaches ADD COLUMN players BIGINT NOT NULL DEFAULT 0;
ALTER TABLE coaches ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE coaches ADD COLUMN kyc_state TEXT NOT NULL DEFAULT 'not_started';
ALTER TABLE coaches ADD COLUMN picture_id TEXT;
ALTER TABLE coaches ADD COLUMN visible BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE coaches ADD COLUMN shown TEXT NOT NULL DEFAULT '[]';
UPDATE coaches SET players = (SELECT count(*) FROM players WHERE players.coach_id = coaches.id AND players.deleted_at IS NULL);

-- Bytes in the file store. A row is here before the first byte is written and
-- until after the last one is gone; ends_at is when the bytes may be removed, NULL
-- while a document names them.
CREATE TABLE blobs (
	key        TEXT   NOT NULL PRIMARY KEY,
	coach_id   TEXT   NOT NULL,
	size       BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	ends_at    BIGINT
);
CREATE INDEX blobs_by_end ON blobs (ends_at, key) WHERE ends_at IS NOT NULL;

-- variants are the sizes of a picture, JSON; in_profile says of a certificate
-- that the profile names it; notice_at is when the coach is next told that it ends.
CREATE TABLE documents (
	id         TEXT    NOT NULL PRIMARY KEY,
	coach_id   TEXT    NOT NULL REFERENCES accounts (id),
	kind       TEXT    NOT NULL,
	title      TEXT    NOT NULL,
	issuer     TEXT,
	issued_on  TEXT,
	expires_on TEXT,
	file_name  TEXT    NOT NULL,
	media_type TEXT    NOT NULL,
	size       BIGINT  NOT NULL,
	sha256     TEXT    NOT NULL,
	width      INTEGER,
	height     INTEGER,
	variants   TEXT    NOT NULL,
	blob       TEXT    NOT NULL,
	in_profile BOOLEAN NOT NULL,
	notice_at  BIGINT,
	version    BIGINT  NOT NULL,
	created_at BIGINT  NOT NULL,
	updated_at BIGINT  NOT NULL
);
CREATE INDEX documents_of_coach ON documents (coach_id, id);
CREATE INDEX documents_by_notice ON documents (notice_at, id) WHERE notice_at IS NOT NULL;

-- Submissions for verification; legal_name is sealed. At most one waits per coach.
CREATE TABLE kyc_submissions (
	id           TEXT   NOT NULL PRIMARY KEY,
	coach_id     TEXT   NOT NULL REFERENCES accounts (id),
	state        TEXT   NOT NULL,
	legal_name   BYTEA  NOT NULL,
	reason       TEXT,
	submitted_at BIGINT NOT NULL,
	decided_at   BIGINT
);
CREATE UNIQUE INDEX kyc_waiting_once ON kyc_submissions (coach_id) WHERE state = 'submitted';
CREATE INDEX kyc_queue ON kyc_submissions (submitted_at, id) WHERE state = 'submitted';
CREATE INDEX kyc_of_coach ON kyc_submissions (coach_id, id);
CREATE TABLE kyc_documents (
	submission_id TEXT NOT NULL REFERENCES kyc_submissions (id),
	document_id   TEXT NOT NULL,
	PRIMARY KEY (submission_id, document_id)
);
CREATE INDEX kyc_documents_of_document ON kyc_documents (document_id);

-- What the public directory keeps of a coach who wishes to be seen: written with
-- whatever it is made of, so that a page is one statement. card is JSON, with what
-- settings are held against when it is read. listing_terms are by what a listing
-- is found.
CREATE TABLE listings (
	coach_id   TEXT   NOT NULL PRIMARY KEY REFERENCES accounts (id),
	card       TEXT   NOT NULL,
	updated_at BIGINT NOT NULL
);
CREATE TABLE listing_terms (
	term     TEXT NOT NULL,
	coach_id TEXT NOT NULL REFERENCES listings (coach_id) ON DELETE CASCADE,
	PRIMARY KEY (term, coach_id)
);
CREATE INDEX listing_terms_of_coach ON listing_terms (coach_id);

-- Facts about the installation, such as which file store belongs to it.
CREATE TABLE installation (
	name  TEXT NOT NULL PRIMARY KEY,
	value TEXT NOT NULL
);

-- +goose Down
DROP TABLE installation;
DROP TABLE listing_terms;
DROP TABLE listings;
DROP TABLE kyc_documents;
DROP TABLE kyc_submissions;
DROP TABLE documents;
DROP TABLE blobs;
ALTER TABLE coaches DROP COLUMN shown;
ALTER TABLE coaches DROP COLUMN visible;
ALTER TABLE coaches DROP COLUMN picture_id;
ALTER TABLE coaches DROP COLUMN kyc_state;
ALTER TABLE coaches DROP COLUMN stored_bytes;
ALTER TABLE coaches DROP COLUMN players;
ALTER TABLE coaches DROP COLUMN tier_since;
ALTER TABLE coaches DROP COLUMN tier;
ALTER TABLE accounts DROP COLUMN suspended_why;
ALTER TABLE accounts DROP COLUMN suspended_at;
