package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
)

// sweepBatch limits the rows of one statement, so that it holds its locks only briefly.
const sweepBatch = 500

// Sweep frees short codes and deletes expired rows, such as challenges, links and sessions. It
// never deletes history, requests, players or the links of open requests. It returns the number of
// changed rows.
func (db *DB) Sweep(ctx context.Context, now time.Time) (int64, error) {
	var total int64
	for _, hook := range db.options.Hooks.BeforeSweep {
		n, err := hook(ctx, db, now)
		if total += n; err != nil {
			return total, err
		}
	}
	type expired struct {
		what   string
		query  string
		before time.Time
	}
	all := []expired{
		{"windows", `DELETE FROM gather_windows WHERE (coach_id, number) IN (SELECT coach_id, number FROM gather_windows WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`, now},
		{"answers", `DELETE FROM kept_answers WHERE (owner, key) IN (SELECT owner, key FROM kept_answers WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`, now},
		{"deliveries of OTPs and notices", `DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE kind IN ('otp', 'notice') AND id > '' ORDER BY id LIMIT $2) AND state <> 'queued' AND updated_at < $1`, now.Add(-message.DeliveriesKept)},
		{"replies", `DELETE FROM handled_replies WHERE hash IN (SELECT hash FROM handled_replies WHERE handled_at < $1 ORDER BY handled_at LIMIT $2)`, now.Add(-message.RepliesKept)},
		{"numbers that wrote by WhatsApp", `DELETE FROM chat_numbers WHERE mobile_number IN (SELECT mobile_number FROM chat_numbers WHERE wrote_at < $1 ORDER BY wrote_at LIMIT $2) AND wrote_at < $1`, now.Add(-message.RepliesKept)},
		{"users of WhatsApp", `DELETE FROM chat_users WHERE user_id IN (SELECT user_id FROM chat_users WHERE seen_at < $1 ORDER BY seen_at LIMIT $2) AND seen_at < $1`, now.Add(-outbox.UsersKept)},
		{"texts without a chosen coach", `DELETE FROM chat_held WHERE id IN (SELECT id FROM chat_held WHERE created_at < $1 ORDER BY created_at LIMIT $2)`, now.Add(-message.RepliesKept)},
		{"costs of messages", `DELETE FROM message_costs WHERE (day, coach_id, channel) IN (SELECT day, coach_id, channel FROM message_costs WHERE day < $1 ORDER BY day, coach_id, channel LIMIT $2)`, now.Add(-message.MessageCostsKept)},
		{"operator sessions", `DELETE FROM operator_sessions WHERE id IN (SELECT id FROM operator_sessions WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`, now},
	}
	for _, e := range db.options.Hooks.Expired {
		all = append(all, expired{e.What, e.Query, now.Add(-e.Kept)})
	}
	for _, s := range all {
		// A statement repeats its condition where another transaction may extend the row between
		// the subquery and the deletion.
		for {
			var n int64
			err := db.Write(ctx, func(tx *Tx) (err error) {
				n, err = tx.Exec(ctx, s.query, database.Micros(s.before), sweepBatch)
				return err
			})
			if err != nil {
				return total, fmt.Errorf("sweep %s: %w", s.what, err)
			}
			if total += n; n < sweepBatch {
				break
			}
		}
	}
	n, err := db.Outbox.DeleteCounts(ctx, now.Add(-message.MessageCountsKept))
	if total += n; err != nil {
		return total, fmt.Errorf("sweep message counts: %w", err)
	}
	if total == 0 {
		return 0, nil
	}
	return total, db.EmptyLog(ctx)
}
