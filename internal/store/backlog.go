package store

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/notify"
)

// Backlog returns how many deliveries of a kind wait, of at most most, and when
// the one was due that has waited for longest; zero where none waits. It reads so
// many rows of an index and no more.
func (db *DB) Backlog(ctx context.Context, kind notify.Kind, most int) (waiting int, oldest time.Time, err error) {
	err = db.sql.QueryRow(ctx, `
		SELECT count(*), min(q.due_at) FROM (
			SELECT due_at FROM deliveries WHERE kind = $1 AND state = 'queued' ORDER BY due_at, id LIMIT $2
		) AS q`, string(kind), most).Scan(&waiting, intoTime(&oldest))
	return waiting, oldest, err
}
