package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/database"
)

// Overview reads a coach's overview from one state of the database, with at most limit needs.
func (db *DB) Overview(ctx context.Context, coachID string, limit int, now time.Time) (*coach.Overview, error) {
	o := &coach.Overview{}
	err := db.View(ctx, func(tx *Tx) (err error) {
		if o.Summary, err = tx.summary(ctx, coachID, now); err != nil {
			return err
		}
		due := now.Add(-coach.FollowUpTarget)
		err = tx.QueryRow(ctx, `SELECT m.reached, m.followed FROM `+measuredRequests+` m`,
			coachID, database.Micros(due), database.Micros(due.Add(-coach.FollowUpWindow)), coach.FollowUpTarget.Microseconds()).Scan(&o.Reached, &o.FollowedUp)
		if err != nil {
			return fmt.Errorf("count follow-ups: %w", err)
		}
		o.Needs, err = tx.needs(ctx, coachID, coach.NeedQuery{Limit: limit}, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}
