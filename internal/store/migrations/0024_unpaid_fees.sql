-- What the families of a coach owe is added up from this index alone, in the order of the
-- currencies. A fee has an entry while it is open, and a payment writes the entry again.

-- +goose Up
CREATE INDEX fees_unpaid ON fees (coach_id, currency, due_on, amount, paid) WHERE status = 'open';

-- +goose Down
DROP INDEX fees_unpaid;
