-- Receipts belong to one attempt of a delivery.

-- +goose Up

-- total_attempts counts the attempts since the delivery was created; attempts counts those
-- since it was queued last. cause says why it was not delivered, in words of package notify.
ALTER TABLE deliveries ADD COLUMN total_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN cause TEXT;

-- +goose Down
ALTER TABLE deliveries DROP COLUMN cause;
ALTER TABLE deliveries DROP COLUMN total_attempts;
