package database

import (
	"context"
	"fmt"
	"time"
)

// ClockOffset returns how far the clock of this process is ahead of the clock of PostgreSQL. The
// error of the result is at most the time of one query. On SQLite it is 0.
func (db *DB) ClockOffset(ctx context.Context) (time.Duration, error) {
	if db.engine != postgres {
		return 0, nil
	}
	var server int64
	start := db.now()
	err := db.QueryRow(ctx, `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`).Scan(&server)
	if err != nil {
		return 0, fmt.Errorf("read the clock of the database: %w", err)
	}
	return start.Sub(time.UnixMicro(server)), nil
}
