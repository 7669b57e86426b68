-- Trainings and who comes to them.

-- +goose Up

-- A single training, or a day of the schedule that the coach changed or cancelled: see package
-- training for its id. NULL means that the value is that of the schedule or the batch. starts and ends
-- are minutes after midnight in the time zone of the batch. The row is a cancelled training while
-- cancelled_at is set. At asked_at the coach last asked the families without an answer.
CREATE TABLE trainings (
	id           TEXT    NOT NULL PRIMARY KEY,
	coach_id     TEXT    NOT NULL,
	batch_id     TEXT    NOT NULL REFERENCES batches (id),
	version      BIGINT  NOT NULL,
	date         TEXT    NOT NULL,
	starts       BIGINT,
	ends         BIGINT,
	kind         TEXT    NOT NULL,
	title        TEXT,
	venue        TEXT,
	opponent     TEXT,
	cancelled_at BIGINT,
	reason       TEXT,
	asked_at     BIGINT,
	created_at   BIGINT  NOT NULL,
	updated_at   BIGINT  NOT NULL
);
CREATE INDEX trainings_of_batch ON trainings (batch_id, date);
CREATE INDEX trainings_of_coach ON trainings (coach_id, id);

-- The secret address of a calendar: that of a coach, with the player_id '', or that of a party of a player
-- since its approval at approved_at. hash is SHA-256 of the secret, which is derived from id.
CREATE TABLE calendars (
	account_id  TEXT   NOT NULL REFERENCES accounts (id),
	player_id   TEXT   NOT NULL,
	id          TEXT   NOT NULL,
	hash        BYTEA  NOT NULL,
	role        TEXT   NOT NULL,
	coach_id    TEXT   NOT NULL,
	approved_at BIGINT NOT NULL,
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (account_id, player_id)
);
CREATE UNIQUE INDEX calendars_hash ON calendars (hash);
CREATE INDEX calendars_of_player ON calendars (player_id);
CREATE INDEX calendars_of_coach ON calendars (coach_id);

-- The link with which a party answers about a training without a sign-in, since its approval at
-- approved_at. hash is SHA-256 of its secret, which is derived from id.
CREATE TABLE training_links (
	training_id TEXT   NOT NULL,
	player_id   TEXT   NOT NULL REFERENCES players (id),
	account_id  TEXT   NOT NULL,
	id          TEXT   NOT NULL,
	hash        BYTEA  NOT NULL,
	role        TEXT   NOT NULL,
	coach_id    TEXT   NOT NULL,
	approved_at BIGINT NOT NULL,
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (training_id, player_id, account_id)
);
CREATE UNIQUE INDEX training_links_hash ON training_links (hash);
CREATE UNIQUE INDEX training_links_id ON training_links (id);
CREATE INDEX training_links_of_player ON training_links (player_id);
CREATE INDEX training_links_of_coach ON training_links (coach_id);
CREATE INDEX training_links_old ON training_links (created_at);

-- Whether a player comes to a training, as the party says who answered last.
CREATE TABLE training_answers (
	training_id TEXT    NOT NULL,
	player_id   TEXT    NOT NULL REFERENCES players (id),
	coach_id    TEXT    NOT NULL,
	batch_id    TEXT    NOT NULL REFERENCES batches (id),
	date        TEXT    NOT NULL,
	attending   BOOLEAN NOT NULL,
	reason      TEXT,
	party       TEXT    NOT NULL,
	account_id  TEXT    NOT NULL,
	answered_at BIGINT  NOT NULL,
	PRIMARY KEY (training_id, player_id)
);
CREATE INDEX training_answers_of_player ON training_answers (player_id, date);
CREATE INDEX training_answers_of_coach ON training_answers (coach_id, player_id, training_id);
CREATE INDEX training_answers_old ON training_answers (answered_at);
