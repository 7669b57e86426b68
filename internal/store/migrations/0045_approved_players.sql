-- Each call of /api/me reads the newest name under which a guardian approved, and each call of a student
-- whether any link is approved. Without these indexes they read every child of the number.

-- +goose Up

CREATE INDEX players_guardian_approved ON players (guardian_id, id) WHERE deleted_at IS NULL AND guardian_state = 'approved';
CREATE INDEX players_student_approved ON players (student_id) WHERE deleted_at IS NULL AND student_state = 'approved';

-- +goose Down
DROP INDEX players_student_approved;
DROP INDEX players_guardian_approved;
