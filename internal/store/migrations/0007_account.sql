-- The coach's dashboard, change of number, and account closure.

-- +goose Up

-- When the coach first followed up an open request: reminded, resent, called or ended it.
-- follow_up_note is the coach's note of the last follow-up outside of the app.
ALTER TABLE requests ADD COLUMN followed_up_at BIGINT;
ALTER TABLE requests ADD COLUMN follow_up_note TEXT;
UPDATE requests SET followed_up_at = last_sent_at WHERE last_sent_at > requested_at;
UPDATE requests SET followed_up_at = closed_at WHERE state = 'cancelled' AND followed_up_at IS NULL;
CREATE INDEX requests_of_coach ON requests (coach_id, requested_at);

-- Items that need the coach's attention, newest last.
CREATE INDEX requests_failed_of_coach ON requests (coach_id, last_sent_at, id) WHERE state = 'pending' AND delivery_failed = TRUE;
CREATE INDEX requests_disputed_of_coach ON requests (coach_id, closed_at, id) WHERE state = 'disputed';
CREATE INDEX players_guardian_refused ON players (coach_id, guardian_changed_at, id, guardian_state)
	WHERE deleted_at IS NULL AND guardian_state IN ('rejected', 'revoked');
CREATE INDEX players_student_refused ON players (coach_id, student_changed_at, id, student_state)
	WHERE deleted_at IS NULL AND student_state IN ('rejected', 'revoked');

-- Used to delete a coach's data when the account is closed.
CREATE INDEX blobs_of_coach ON blobs (coach_id) WHERE ends_at IS NULL;
CREATE INDEX sessions_ended_of_account ON sessions (account_id) WHERE revoked_at IS NOT NULL;

-- Used to delete SMS copies of notifications some days after they are done.
CREATE INDEX notices_done ON deliveries (updated_at) WHERE kind = 'notice' AND state <> 'queued';

-- A closed account keeps its id, to which the history refers. Its number is free, and
-- stored here encrypted as proof of the former owner.
ALTER TABLE accounts ADD COLUMN closed_at BIGINT;
ALTER TABLE accounts ADD COLUMN closed_number BYTEA;

-- +goose Down
ALTER TABLE accounts DROP COLUMN closed_number;
ALTER TABLE accounts DROP COLUMN closed_at;
DROP INDEX notices_done;
DROP INDEX sessions_ended_of_account;
DROP INDEX blobs_of_coach;
DROP INDEX players_student_refused;
DROP INDEX players_guardian_refused;
DROP INDEX requests_disputed_of_coach;
DROP INDEX requests_failed_of_coach;
DROP INDEX requests_of_coach;
ALTER TABLE requests DROP COLUMN follow_up_note;
ALTER TABLE requests DROP COLUMN followed_up_at;
