-- Several channels for a request, and mail.

-- +goose Up

-- failed_channels: the channels on which the newest sending failed for good, each followed by
-- a comma. delivery_failed: all channels failed that leave the app.
ALTER TABLE requests ADD COLUMN failed_channels TEXT NOT NULL DEFAULT '';
UPDATE requests SET failed_channels = 'sms,' WHERE delivery_failed = TRUE;

-- Where the link left to, if not to the asked number.
ALTER TABLE request_links ADD COLUMN address TEXT;
CREATE INDEX request_links_to_address ON request_links (request_id, address) WHERE address IS NOT NULL;

-- E-mail addresses, in lower case, whose holders want no mail except about the safety of an
-- account.
CREATE TABLE stopped_addresses (
	address    TEXT   NOT NULL PRIMARY KEY,
	stopped_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE stopped_addresses;
DROP INDEX request_links_to_address;
ALTER TABLE request_links DROP COLUMN address;
ALTER TABLE requests DROP COLUMN failed_channels;
