package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
)

// Backlog returns how many deliveries of a lane are queued, counted up to limit, and
// since when the oldest should have left, or zero if none is queued. It reads at most limit
// rows.
//
// Each attempt sets due_at to a later time. The first one was due at created_at for an OTP,
// and a lifetime before gives_up_at for a message. A delivery that waits on purpose, such as
// a held one, is late only after its due_at.
func (db *DB) Backlog(ctx context.Context, lane message.Lane, limit int) (queued int, oldest time.Time, err error) {
	err = db.sql.QueryRow(ctx, `
		SELECT count(*), min(CASE
			WHEN q.attempts = 0 OR q.reason <> 'retrying' THEN q.due_at
			WHEN q.kind = 'otp' THEN q.created_at
			ELSE q.gives_up_at - CAST($4 AS BIGINT) END)
		FROM (
			SELECT kind, reason, attempts, due_at, gives_up_at, created_at FROM deliveries
			WHERE channel = $1 AND kind = $2 AND state = 'queued' ORDER BY due_at, id LIMIT $3
		) AS q`, string(lane.Channel), string(lane.Kind), limit, message.MessageLifetime.Microseconds()).Scan(&queued, database.IntoTime(&oldest))
	return queued, oldest, err
}

// countWaiting counts what waits for operators, each up to operator.MaxCount: verifications, names, requests
// for tiers, wrong numbers, failing webhooks, and messages that failed after since.
func (db *DB) countWaiting(ctx context.Context, since time.Time) (operator.Counts, error) {
	var c operator.Counts
	err := db.sql.QueryRow(ctx, `
		SELECT
			(SELECT count(*) FROM (SELECT 1 FROM kyc_submissions s WHERE s.state = 'submitted' LIMIT $1) v),
			(SELECT count(*) FROM (SELECT 1 FROM coaches c WHERE c.requested_tier IS NOT NULL LIMIT $1) t),
			(SELECT count(*) FROM (SELECT 1 FROM deliveries d `+outbox.FailedWhere+` AND d.updated_at > $2 LIMIT $1) f),
			(SELECT count(*) FROM (SELECT 1 FROM coaches c WHERE c.name_check_at > 0 LIMIT $1) n),
			(SELECT count(*) FROM (SELECT 1 FROM disputes p WHERE p.created_at > 0 LIMIT $1) d),
			(SELECT count(*) FROM (SELECT 1 FROM webhooks w WHERE w.id > '' AND (w.failing_since IS NOT NULL OR w.disabled_reason = 'failing') LIMIT $1) h)`,
		operator.MaxCount, database.Micros(since)).Scan(&c.Verifications, &c.TierRequests, &c.FailedDeliveries, &c.Names, &c.Disputes, &c.Webhooks)
	if err != nil {
		return c, fmt.Errorf("count what waits for operators: %w", err)
	}
	return c, nil
}
