-- Players, requests and decisions, and the changes that other services read.

-- +goose Up

-- A player is one link between a coach and a student: the child. changes counts the rows of changes so far.
CREATE TABLE players (
	id                     TEXT   NOT NULL PRIMARY KEY,
	coach_id               TEXT   NOT NULL REFERENCES accounts (id),
	version                BIGINT NOT NULL,
	student_name           TEXT   NOT NULL,
	student_key            TEXT   NOT NULL,
	date_of_birth          TEXT   NOT NULL,
	search_key             TEXT   NOT NULL,
	medical                BYTEA,
	created_at             BIGINT NOT NULL,
	deleted_at             BIGINT,
	-- Why the coach may keep the data, as the coach declared at created_at: see approval.Basis.
	basis                  TEXT   NOT NULL DEFAULT 'family_asked',
	basis_note             TEXT,
	changes                BIGINT NOT NULL DEFAULT 0,
	-- What happens next because the student becomes an adult (soon, turned or guardian_alone), and when
	-- to look at it; NULL if nothing does.
	adult_step             TEXT,
	adult_step_at          BIGINT,
	-- The latest pending_since of the parties while none has answered; NULL if one has. No index has it: an answer changes it.
	unanswered_since       BIGINT,
	-- When the coach was warned that the data goes because no party answers. It counts if it is not before unanswered_since.
	unanswered_warned_at   BIGINT,
	-- When the coach last entered the medical text.
	medical_at             BIGINT,
	-- When the personal data of a deleted player was erased: see package privacy.
	erased_at              BIGINT,
	-- The keyed hash of coach, name and birth date, by which disputes find the student again.
	student_hash           BYTEA,
	-- Whose yes the services of the student need where they need a guardian: any or all.
	guardian_rule          TEXT   NOT NULL DEFAULT 'any',
	-- The place of student_key in alphabetical order: see team.SortKey.
	sort_key               TEXT   NOT NULL DEFAULT ''
);
-- sort_key follows from student_key: it is in the index for the lists in alphabetical order.
CREATE UNIQUE INDEX players_once ON players (coach_id, sort_key, student_key, date_of_birth) WHERE deleted_at IS NULL;
CREATE INDEX players_of_coach ON players (coach_id, id) WHERE deleted_at IS NULL;
CREATE INDEX players_to_erase ON players (deleted_at, id) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;
CREATE INDEX players_warned ON players (unanswered_warned_at, id) WHERE unanswered_warned_at IS NOT NULL AND erased_at IS NULL;
CREATE INDEX players_with_medical ON players (medical_at, id) WHERE medical_at IS NOT NULL;
CREATE INDEX players_adult_step ON players (adult_step_at, id) WHERE adult_step_at IS NOT NULL AND deleted_at IS NULL;
-- Used to find students who become adults.
CREATE INDEX players_by_birth ON players (date_of_birth) WHERE deleted_at IS NULL;

-- The parties of a player: up to four guardians and the student, each with its consent. Without a first guardian, that row has no name.
-- guardian_id names a guardian for as long as it is one; position, from 1, can change. A guardian who is removed has no row.
-- request_id names the newest request, whatever its state. pending_reason says why a pending consent is pending.
-- coach_id and deleted_at are those of the player. No index has a column that an answer changes.
CREATE TABLE parties (
	player_id      TEXT    NOT NULL REFERENCES players (id),
	role           TEXT    NOT NULL,
	-- Of the first guardian and of the student it is 1.
	position       INTEGER NOT NULL,
	-- Empty for the student.
	guardian_id    TEXT    NOT NULL DEFAULT '',
	coach_id       TEXT    NOT NULL,
	-- The name of a student is that of the player.
	name           TEXT,
	relationship   TEXT,
	email          TEXT,
	number         TEXT,
	account_id     TEXT    REFERENCES accounts (id),
	language       TEXT,
	state          TEXT    NOT NULL,
	changed_at     BIGINT,
	pending_since  BIGINT  NOT NULL,
	pending_reason TEXT,
	-- The newest answer of the party was a no or took a yes back: see approval.Consent.
	refused        BOOLEAN NOT NULL DEFAULT FALSE,
	request_id     TEXT,
	deleted_at     BIGINT,
	PRIMARY KEY (player_id, role, position)
);
CREATE INDEX parties_of_account ON parties (account_id, player_id) WHERE deleted_at IS NULL;
CREATE INDEX parties_removed_of_account ON parties (account_id, player_id) WHERE deleted_at IS NOT NULL;
CREATE INDEX parties_of_coach ON parties (coach_id, player_id) WHERE deleted_at IS NULL;

CREATE TABLE requests (
	id              TEXT    NOT NULL PRIMARY KEY,
	player_id       TEXT    NOT NULL REFERENCES players (id),
	coach_id        TEXT    NOT NULL,
	approver_type   TEXT    NOT NULL,
	approver_id     TEXT    NOT NULL REFERENCES accounts (id),
	state           TEXT    NOT NULL,
	channels        TEXT    NOT NULL,
	requested_at    BIGINT  NOT NULL,
	last_sent_at    BIGINT  NOT NULL,
	delivery_failed BOOLEAN NOT NULL,
	closed_at       BIGINT,
	short_code      TEXT    UNIQUE,
	-- When the coach first followed up an open request: reminded, resent, called or ended it.
	-- follow_up_note is the coach's note of the last follow-up outside of the app.
	followed_up_at  BIGINT,
	follow_up_note  TEXT,
	-- failed_channels: the channels on which the newest sending failed for good, each followed by
	-- a comma. delivery_failed: all channels failed that leave the app.
	failed_channels TEXT    NOT NULL DEFAULT '',
	student_key     TEXT,
	date_of_birth   TEXT,
	-- How the party answered: page, api, chat or voice. NULL while it has not.
	via             TEXT,
	-- version grows with each change of what the party is shown while the request is open. sent_version is the version
	-- that the newest message to the party showed: an answer that names no version answers that one.
	version         BIGINT  NOT NULL DEFAULT 1,
	sent_version    BIGINT  NOT NULL DEFAULT 1,
	-- The guardian who is asked; empty for the student.
	guardian_id     TEXT    NOT NULL DEFAULT ''
);
-- At most one open request for each player and party, also under concurrency.
CREATE UNIQUE INDEX requests_open ON requests (player_id, approver_type, guardian_id) WHERE state = 'pending';
CREATE INDEX requests_of_player ON requests (player_id, id);
-- The lists of what needs the coach read the open requests of that coach.
CREATE INDEX requests_open_of_coach ON requests (coach_id, requested_at, id) WHERE state = 'pending';
-- Used to count the requests of a month. The condition is always true: it keeps SQLite from using the index for other
-- statements.
CREATE INDEX requests_measured ON requests (coach_id, requested_at) WHERE requested_at > 0;
CREATE INDEX requests_sent_to ON requests (approver_id, coach_id, last_sent_at);

-- The requests behind the links in messages; the tokens are derived, not stored.
-- to_number: the link left to the number that was asked, not to an e-mail address.
CREATE TABLE request_links (
	hash       BYTEA   NOT NULL PRIMARY KEY,
	request_id TEXT    NOT NULL REFERENCES requests (id),
	ends_at    BIGINT  NOT NULL,
	to_number  BOOLEAN NOT NULL,
	-- Where the link left to, if not to the asked number.
	address    TEXT
);
CREATE INDEX request_links_to_address ON request_links (request_id, address) WHERE address IS NOT NULL;

-- The record of every approval, rejection and revocation; nothing deletes it.
CREATE TABLE approval_history (
	id            TEXT   NOT NULL PRIMARY KEY,
	player_id     TEXT   NOT NULL REFERENCES players (id),
	approver_type TEXT   NOT NULL,
	approver_id   TEXT   NOT NULL REFERENCES accounts (id),
	action        TEXT   NOT NULL,
	reason        TEXT,
	request_id    TEXT,
	decided_at    BIGINT NOT NULL,
	-- coach_device is the coach of the player if the party approved on a device that had signed in as that coach.
	coach_device  TEXT,
	-- How the party answered: page, api, chat or voice.
	via           TEXT   NOT NULL DEFAULT '',
	-- SHA-256 in hexadecimal digits of the notice and of the question that the party read or heard.
	notice_hash   TEXT,
	text_hash     TEXT,
	-- The guardian who decided; empty for the student.
	guardian_id   TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX approval_history_of_player ON approval_history (player_id, decided_at, id);
-- Used to find parties that have approved a player of a coach at any time.
CREATE INDEX approval_history_of_approver ON approval_history (approver_id, player_id) WHERE action = 'approved';
CREATE INDEX approval_history_coach_device ON approval_history (coach_device, decided_at, id) WHERE coach_device IS NOT NULL;

-- The guardians who had answered and whom the coach removed. They keep their role, so that they can read, export and delete what is
-- their own, until the player is erased or they delete the account.
CREATE TABLE former_guardians (
	account_id TEXT   NOT NULL REFERENCES accounts (id),
	player_id  TEXT   NOT NULL REFERENCES players (id),
	removed_at BIGINT NOT NULL,
	PRIMARY KEY (account_id, player_id)
);
CREATE INDEX former_guardians_of_player ON former_guardians (player_id, account_id);

-- The yeses of guardians that a second message will repeat: see approval.Rules.SecondMessage. approved_at is the time of the record.
-- sent_at is NULL before the message is sent. Then due_at is when to look whether a copy has left: without one the yes ends.
CREATE TABLE second_messages (
	record_id   TEXT   NOT NULL PRIMARY KEY,
	player_id   TEXT   NOT NULL REFERENCES players (id),
	guardian_id TEXT   NOT NULL,
	approved_at BIGINT NOT NULL,
	due_at      BIGINT NOT NULL,
	sent_at     BIGINT
);
CREATE INDEX second_messages_due ON second_messages (due_at, record_id);

-- Every reading of a medical text. The text itself is never here.
CREATE TABLE medical_readings (
	id          TEXT   NOT NULL PRIMARY KEY,
	player_id   TEXT   NOT NULL REFERENCES players (id),
	reader_role TEXT   NOT NULL,
	reader_id   TEXT   NOT NULL,
	-- shown, edited or exported
	purpose     TEXT   NOT NULL,
	read_at     BIGINT NOT NULL
);
CREATE INDEX medical_readings_of_player ON medical_readings (player_id, id);

-- The phones that were told that a child becomes an adult: a hash of number, child and step, so that
-- both roles of a phone and several coaches tell it once.
CREATE TABLE told_phones (
	hash    BYTEA  NOT NULL PRIMARY KEY,
	told_at BIGINT NOT NULL
);
CREATE INDEX told_phones_by_time ON told_phones (told_at);

CREATE TABLE reminders (
	id            TEXT   NOT NULL PRIMARY KEY,
	player_id     TEXT   NOT NULL REFERENCES players (id),
	approver_type TEXT   NOT NULL,
	sent_at       BIGINT NOT NULL,
	guardian_id   TEXT   NOT NULL DEFAULT ''
);
CREATE INDEX reminders_of_party ON reminders (player_id, approver_type, sent_at);
CREATE INDEX reminders_by_time ON reminders (sent_at);

-- "This is not me": this account gets no request from this coach for this student,
-- matched by the player or, if it is added again, by the keyed hash of name and birth date.
-- request_id is the request that the account disputed. number_hash is the keyed hash of role
-- and number: if the account is erased, the next account of the number takes its place.
CREATE TABLE disputes (
	coach_id      TEXT   NOT NULL,
	approver_id   TEXT   NOT NULL REFERENCES accounts (id),
	player_id     TEXT   NOT NULL,
	student_hash  BYTEA  NOT NULL,
	number_hash   BYTEA  NOT NULL,
	created_at    BIGINT NOT NULL,
	request_id    TEXT   NOT NULL UNIQUE,
	PRIMARY KEY (coach_id, approver_id, player_id)
);
CREATE INDEX disputes_by_time ON disputes (created_at, request_id);
CREATE INDEX disputes_of_coach ON disputes (coach_id, created_at, request_id);
CREATE INDEX disputes_of_approver ON disputes (approver_id, request_id);
CREATE INDEX disputes_of_number ON disputes (number_hash, created_at, request_id);

-- Status changes that other services read. A transaction adds its rows without a position.
-- Later one transaction at a time gives positions to committed rows, so a reader that
-- continues after a position misses no row. sequence counts the changes of a player.
CREATE TABLE changes (
	player_id      TEXT   NOT NULL,
	sequence       BIGINT NOT NULL,
	type           TEXT   NOT NULL,
	party          TEXT,
	guardian_state TEXT   NOT NULL,
	student_state  TEXT   NOT NULL,
	at             BIGINT NOT NULL,
	position       BIGINT,
	positioned_at  BIGINT,
	-- The guardian whose consent changed, if party is guardian.
	guardian_id    TEXT,
	PRIMARY KEY (player_id, sequence)
);
-- positioned_at grows with position.
CREATE UNIQUE INDEX changes_by_position ON changes (position) WHERE position IS NOT NULL;
CREATE INDEX changes_without_position ON changes (player_id, sequence) WHERE position IS NULL;

-- One row: the last position, when it was given, and the UTC date up to which the
-- students who became adults are in changes.
CREATE TABLE change_feed (
	id            BIGINT NOT NULL PRIMARY KEY,
	last          BIGINT NOT NULL,
	positioned_at BIGINT NOT NULL,
	adults_to     TEXT
);
INSERT INTO change_feed (id, last, positioned_at) VALUES (1, 0, 0);
