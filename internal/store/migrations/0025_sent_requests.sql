-- A new request is compared with those that left to the same party in RESEND_AFTER, not with all.

-- +goose Up

CREATE INDEX requests_sent_to ON requests (approver_id, coach_id, last_sent_at);
DROP INDEX requests_of_approver;

-- +goose Down
CREATE INDEX requests_of_approver ON requests (approver_id, coach_id);
DROP INDEX requests_sent_to;
