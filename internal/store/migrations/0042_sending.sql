-- Nothing of the app services leaves after the answer to a revoke.

-- +goose Up

-- sending_lease is the lease under which a worker gives the message to its provider. While it equals the lease, the
-- message may be on its way; a revoke waits for the result.
ALTER TABLE deliveries ADD COLUMN sending_lease TEXT;
CREATE INDEX deliveries_queued_notices ON deliveries (account_id) WHERE account_id IS NOT NULL AND state = 'queued';

-- +goose Down
DROP INDEX deliveries_queued_notices;
ALTER TABLE deliveries DROP COLUMN sending_lease;
