-- Operators look up the messages to a number of a person who says that none came.

-- +goose Up

CREATE INDEX deliveries_of_recipient ON deliveries (recipient, id) WHERE recipient <> '';

-- +goose Down
DROP INDEX deliveries_of_recipient;
