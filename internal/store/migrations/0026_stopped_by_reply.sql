-- START ends what STOP began, and no choice that a person made on the page.

-- +goose Up

ALTER TABLE stopped_coaches ADD COLUMN by_reply BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE stopped_coaches DROP COLUMN by_reply;
