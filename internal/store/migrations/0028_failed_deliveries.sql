-- Failed deliveries for operators, without the messages of coaches that were dropped before they
-- left. The indexes replace deliveries_unsent and deliveries_unsent_of_coach, which the next
-- migration drops.

-- +goose Up

CREATE INDEX deliveries_not_sent ON deliveries (updated_at, id)
	WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted', 'stopped', 'disputed', 'contact_changed', 'player_removed');
CREATE INDEX deliveries_not_sent_of_coach ON deliveries (coach_id, updated_at, id)
	WHERE state = 'failed' AND reason NOT IN ('request_closed', 'not_wanted', 'stopped', 'disputed', 'contact_changed', 'player_removed');

-- +goose Down
DROP INDEX deliveries_not_sent_of_coach;
DROP INDEX deliveries_not_sent;
