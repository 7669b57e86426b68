package store

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/notify"
)

// Backlog returns how many deliveries of a lane are queued, counted up to limit, and
// the oldest due time, or zero if none is queued. It reads at most limit index entries.
func (db *DB) Backlog(ctx context.Context, lane notify.Lane, limit int) (queued int, oldest time.Time, err error) {
	err = db.sql.QueryRow(ctx, `
		SELECT count(*), min(q.due_at) FROM (
			SELECT due_at FROM deliveries WHERE channel = $1 AND kind = $2 AND state = 'queued' ORDER BY due_at, id LIMIT $3
		) AS q`, string(lane.Channel), string(lane.Kind), limit).Scan(&queued, intoTime(&oldest))
	return queued, oldest, err
}
