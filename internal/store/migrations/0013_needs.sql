-- Indexes of the page "Needs you" and of the dashboard of a coach with many players.

-- +goose Up

CREATE INDEX requests_to_follow_up ON requests (coach_id, requested_at, followed_up_at, delivery_failed) WHERE state = 'pending' AND followed_up_at IS NULL;
CREATE INDEX requests_followed_up ON requests (coach_id, requested_at, followed_up_at, delivery_failed) WHERE state = 'pending' AND followed_up_at IS NOT NULL;
CREATE INDEX deliveries_queued_of_coach ON deliveries (coach_id, request_id, reason) WHERE state = 'queued' AND request_id IS NOT NULL;
CREATE INDEX stopped_coaches_of_coach ON stopped_coaches (coach_id, mobile_number);

-- The share of requests that were followed up in time is counted from this index alone. The
-- condition is always true: it keeps SQLite from using the index for other statements, for
-- which it takes the index with the shortest entries.
CREATE INDEX requests_measured ON requests (coach_id, requested_at, closed_at, followed_up_at) WHERE requested_at > 0;
DROP INDEX requests_of_coach;

-- +goose Down
CREATE INDEX requests_of_coach ON requests (coach_id, requested_at);
DROP INDEX requests_measured;
DROP INDEX stopped_coaches_of_coach;
DROP INDEX deliveries_queued_of_coach;
DROP INDEX requests_followed_up;
DROP INDEX requests_to_follow_up;
