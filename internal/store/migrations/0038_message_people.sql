-- The pages count people where the API counts parties: a guardian of two children is one person.

-- +goose Up

-- How many people a message reaches, and how many it leaves out, as they were planned. NULL for messages of earlier releases.
ALTER TABLE team_messages ADD COLUMN people BIGINT;
ALTER TABLE team_messages ADD COLUMN people_left_out BIGINT;

-- +goose Down
ALTER TABLE team_messages DROP COLUMN people_left_out;
ALTER TABLE team_messages DROP COLUMN people;
