-- Documents, verification, tier and directory listing of a coach.

-- +goose Up

-- A suspended account cannot sign in.
ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;
ALTER TABLE accounts ADD COLUMN suspended_why TEXT;

-- tier NULL is the first tier of the configuration. requested_tier waits for an operator
-- since requested_tier_at. players and stored_bytes are
-- limited by the tier: they are incremented before they are checked. kyc_state is that
-- of the newest submission. visible and shown are the coach's choice; listings holds
-- what the public sees.
ALTER TABLE coaches ADD COLUMN tier TEXT;
ALTER TABLE coaches ADD COLUMN tier_since BIGINT;
ALTER TABLE coaches ADD COLUMN requested_tier TEXT;
ALTER TABLE coaches ADD COLUMN requested_tier_at BIGINT;
CREATE INDEX coaches_tier_requests ON coaches (requested_tier_at, id) WHERE requested_tier IS NOT NULL;
ALTER TABLE coaches ADD COLUMN players BIGINT NOT NULL DEFAULT 0;
ALTER TABLE coaches ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE coaches ADD COLUMN kyc_state TEXT NOT NULL DEFAULT 'not_started';
ALTER TABLE coaches ADD COLUMN picture_id TEXT;
ALTER TABLE coaches ADD COLUMN visible BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE coaches ADD COLUMN shown TEXT NOT NULL DEFAULT '[]';
UPDATE coaches SET players = (SELECT count(*) FROM players WHERE players.coach_id = coaches.id AND players.deleted_at IS NULL);

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

-- variants: the sizes of a picture, JSON. in_profile: the profile names this
-- certificate. notice_at: when the coach is next notified that it expires.
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

-- Submissions for verification; legal_name is encrypted. At most one is open per coach.
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

-- The public directory: one row for each visible coach, written with every change of
-- its sources, so that a page is one statement. card is JSON and includes what the
-- settings are compared with when it is read. listing_terms holds the search terms.
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
DROP INDEX coaches_tier_requests;
ALTER TABLE coaches DROP COLUMN requested_tier_at;
ALTER TABLE coaches DROP COLUMN requested_tier;
ALTER TABLE coaches DROP COLUMN tier_since;
ALTER TABLE coaches DROP COLUMN tier;
ALTER TABLE accounts DROP COLUMN suspended_why;
ALTER TABLE accounts DROP COLUMN suspended_at;
