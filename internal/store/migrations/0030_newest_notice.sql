-- The newest SMS about a removed player, for a person who replies STOP to it.

-- +goose Up

CREATE INDEX deliveries_of_notices ON deliveries (coach_id, recipient, updated_at) WHERE kind = 'notice' AND channel = 'sms';

-- +goose Down
DROP INDEX deliveries_of_notices;
