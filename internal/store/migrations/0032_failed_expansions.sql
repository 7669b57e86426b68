-- A message whose recipients cannot get their deliveries does not keep those of other coaches waiting.

-- +goose Up

-- expand_at is when the worker tries next, and NULL after the last attempt.
ALTER TABLE team_messages ADD COLUMN expand_at BIGINT DEFAULT 0;
ALTER TABLE team_messages ADD COLUMN expand_failures INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE team_messages DROP COLUMN expand_failures;
ALTER TABLE team_messages DROP COLUMN expand_at;
