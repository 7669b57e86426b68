-- A reply that arrives late answers the message that had left when the person wrote it.

-- +goose Up

-- left_at is when a provider first accepted the message, NULL before and for messages of earlier releases. A
-- receipt changes updated_at and not left_at.
ALTER TABLE deliveries ADD COLUMN left_at BIGINT;

-- +goose Down
ALTER TABLE deliveries DROP COLUMN left_at;
