-- OTPs whose cost is counted when they are requested.

-- +goose Up

ALTER TABLE deliveries ADD COLUMN reserved BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE deliveries DROP COLUMN reserved;
