package privacy

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
)

// Retention says how long personal data is kept; 0 keeps it.
type Retention struct {
	// Deleted counts from the removal of a player, Unanswered from when both parties were pending, Notifications from the
	// creation of a notification, Deliveries from the last change of a delivery, Medical from when the text was entered.
	Deleted, Unanswered, Notifications, Deliveries, Medical time.Duration
}

// period is how long the rows of a table are kept.
type period struct {
	setting, table string
	kept           time.Duration
	// erase erases up to $2 rows that are older than $1. next returns the time of the first row that is not. The rows of some tables are
	// in the order of their ids: a row that is not old enough ends the search, so rows behind $2 such rows wait.
	erase, next string
}

func (r Retention) periods() []period {
	return []period{
		{
			"RETAIN_NOTIFICATIONS", "notifications", r.Notifications,
			`DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE id > '' ORDER BY id LIMIT $2) AND created_at < $1`,
			`SELECT created_at FROM notifications WHERE id > '' AND created_at >= $1 ORDER BY id LIMIT 1`,
		},
		{
			"RETAIN_DELIVERIES", "deliveries", r.Deliveries,
			`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE id > '' ORDER BY id LIMIT $2) AND state <> 'queued' AND updated_at < $1`,
			`SELECT updated_at FROM deliveries WHERE id > '' AND state <> 'queued' AND updated_at >= $1 ORDER BY id LIMIT 1`,
		},
		{
			// The version changes, so that a concurrent change of the player does not write the text again.
			"RETAIN_MEDICAL", "players (medical)", r.Medical,
			`UPDATE players SET medical = NULL, medical_at = NULL, version = version + 1 WHERE id IN (SELECT id FROM players WHERE medical_at < $1 ORDER BY medical_at, id LIMIT $2) AND medical_at < $1`,
			`SELECT medical_at FROM players WHERE medical_at >= $1 ORDER BY medical_at, id LIMIT 1`,
		},
	}
}

// removal is a reason for which removed players are erased.
type removal struct {
	setting string
	kept    time.Duration
	// find returns up to $2 players who were removed, or whose coach was warned, before $1. next is as in period.
	find, next string
	before     time.Duration
}

func (r Retention) removals() []removal {
	return []removal{
		{
			"RETAIN_DELETED", r.Deleted,
			`SELECT id FROM players WHERE deleted_at < $1 AND deleted_at IS NOT NULL AND erased_at IS NULL ORDER BY deleted_at, id LIMIT $2`,
			`SELECT deleted_at FROM players WHERE deleted_at >= $1 AND deleted_at IS NOT NULL AND erased_at IS NULL ORDER BY deleted_at, id LIMIT 1`,
			r.Deleted,
		},
		{
			// A player whom the coach removes after the warning keeps the day that the warning named.
			"RETAIN_UNANSWERED", r.Unanswered,
			`SELECT id FROM players
			WHERE deleted_at IS NOT NULL AND erased_at IS NULL AND unanswered_warned_at < $1 AND unanswered_warned_at >= unanswered_since
			ORDER BY unanswered_warned_at, id LIMIT $2`,
			`SELECT unanswered_warned_at FROM players
			WHERE erased_at IS NULL AND unanswered_since IS NOT NULL AND unanswered_warned_at >= $1
			ORDER BY unanswered_warned_at, id LIMIT 1`,
			player.UnansweredWarning,
		},
	}
}

// BeforeSweep erases what is older than the times of Retention. It continues where it stopped.
func (r Retention) BeforeSweep(ctx context.Context, db *store.DB, now time.Time) (total int64, err error) {
	for _, p := range r.periods() {
		if p.kept == 0 {
			continue
		}
		n, err := repeat(ctx, db, p.erase, database.Micros(now.Add(-p.kept)))
		if total += n; err != nil {
			return total, fmt.Errorf("erase %s: %w", p.table, err)
		}
	}
	for _, r := range r.removals() {
		for n := eraseBatch; n == eraseBatch && r.kept > 0; {
			rs, err := db.Query(ctx, r.find, database.Micros(now.Add(-r.before)), eraseBatch)
			ids, err := database.CollectTexts(rs, err)
			if err != nil {
				return total, fmt.Errorf("find players to erase: %w", err)
			}
			for _, id := range ids {
				n, err := erasePlayer(ctx, db, id)
				if total += n; err != nil {
					return total, fmt.Errorf("erase player %s: %w", id, err)
				}
			}
			n = len(ids)
		}
	}
	if total == 0 {
		return 0, nil
	}
	return total, db.EmptyLog(ctx)
}
