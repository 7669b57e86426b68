-- A new request is compared with the earlier ones about the same student, also of removed players.
-- The index finds these players once, instead of the player of each earlier request.

-- +goose Up

CREATE INDEX players_removed ON players (coach_id, student_key, date_of_birth) WHERE deleted_at IS NOT NULL;

-- +goose Down
DROP INDEX players_removed;
