-- The owner of a number that wrong codes of strangers have locked signs in with a code by mail.

-- +goose Up

-- The e-mail address that the owner of a number confirmed for a role.
CREATE TABLE confirmed_addresses (
	mobile_number TEXT   NOT NULL,
	role          TEXT   NOT NULL,
	address       TEXT   NOT NULL,
	ends_at       BIGINT NOT NULL,
	PRIMARY KEY (mobile_number, role)
);
CREATE INDEX confirmed_addresses_by_end ON confirmed_addresses (ends_at);

-- +goose Down
DROP TABLE confirmed_addresses;
