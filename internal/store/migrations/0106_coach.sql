-- Coaches: profile, tier, documents, verification and directory.

-- +goose Up

-- The coach's profile. The first login inserts the row.
CREATE TABLE coaches (
	id               TEXT   NOT NULL PRIMARY KEY REFERENCES accounts (id),
	name             TEXT,
	email            TEXT,
	bio              TEXT,
	experience_years INTEGER,
	sports           TEXT   NOT NULL DEFAULT '[]',
	version          BIGINT NOT NULL DEFAULT 1,
	created_at       BIGINT NOT NULL,
	updated_at       BIGINT NOT NULL,
	-- tier NULL is the first tier of the configuration. requested_tier waits for an operator
	-- since requested_tier_at. players and stored_bytes are limited by the tier: they are
	-- incremented before they are checked. kyc_state is the state of the newest submission.
	-- visible and shown are the coach's choice; listings holds what the public sees.
	tier             TEXT,
	tier_since       BIGINT,
	requested_tier   TEXT,
	requested_tier_at BIGINT,
	players          BIGINT NOT NULL DEFAULT 0,
	stored_bytes     BIGINT NOT NULL DEFAULT 0,
	kyc_state        TEXT   NOT NULL DEFAULT 'not_started',
	picture_id       TEXT,
	visible          BOOLEAN NOT NULL DEFAULT FALSE,
	shown            TEXT   NOT NULL DEFAULT '[]',
	-- A coach's folded name for the operators' search, as bytes, which both engines
	-- compare alike.
	name_key         BYTEA,
	-- The coach's dates are days of this time zone; NULL is the zone of the default region.
	time_zone        TEXT,
	-- The address to which families pay, and when it was changed last.
	upi_id           TEXT,
	upi_changed_at   BIGINT,
	-- The profile was complete once: from then on another name is a change. former_names are
	-- the changes of the last 30 days, JSON. name_pending takes effect at
	-- name_takes_effect_at, or when an operator confirms it.
	completed        BOOLEAN NOT NULL DEFAULT FALSE,
	former_names     TEXT   NOT NULL DEFAULT '[]',
	name_pending     TEXT,
	name_takes_effect_at BIGINT,
	-- The name, and the SHA-256 of the picture, that an operator confirmed last. Only with
	-- them a verified coach has the mark. name_check_at: since when a name or a picture
	-- waits for an operator.
	confirmed_name   TEXT,
	confirmed_picture TEXT,
	name_check_at    BIGINT
);
CREATE INDEX coaches_names_due ON coaches (name_takes_effect_at, id) WHERE name_takes_effect_at IS NOT NULL;
CREATE INDEX coaches_name_checks ON coaches (name_check_at, id) WHERE name_check_at IS NOT NULL;
CREATE INDEX coaches_tier_requests ON coaches (requested_tier_at, id) WHERE requested_tier IS NOT NULL;
CREATE INDEX coaches_by_name ON coaches (name_key, id);

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

-- Submissions for verification; legal_name is encrypted. At most one is open per coach. shown_name
-- and shown_picture are the name and the SHA-256 of the picture of the profile then.
CREATE TABLE kyc_submissions (
	id           TEXT   NOT NULL PRIMARY KEY,
	coach_id     TEXT   NOT NULL REFERENCES accounts (id),
	state        TEXT   NOT NULL,
	legal_name   BYTEA  NOT NULL,
	reason       TEXT,
	submitted_at BIGINT NOT NULL,
	decided_at   BIGINT,
	shown_name   TEXT,
	shown_picture TEXT
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
