package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/database"
)

// countWaiting counts what waits for operators, each up to operator.MaxCount: verifications, requests
// for tiers, and messages that failed after since.
func (db *DB) countWaiting(ctx context.Context, since time.Time) (operator.Counts, error) {
	var c operator.Counts
	err := db.sql.QueryRow(ctx, `
		SELECT
			(SELECT count(*) FROM (SELECT 1 FROM kyc_submissions s WHERE s.state = 'submitted' LIMIT $1) v),
			(SELECT count(*) FROM (SELECT 1 FROM coaches c WHERE c.requested_tier IS NOT NULL LIMIT $1) t),
			(SELECT count(*) FROM (SELECT 1 FROM deliveries d `+message.FailedWhere+` AND d.updated_at > $2 LIMIT $1) f)`,
		operator.MaxCount, database.Micros(since)).Scan(&c.Verifications, &c.TierRequests, &c.FailedDeliveries)
	if err != nil {
		return c, fmt.Errorf("count what waits for operators: %w", err)
	}
	return c, nil
}
