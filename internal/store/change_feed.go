package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/database"
)

// positionBatch limits the changes that get a position in one transaction.
const positionBatch = 1000

// PositionChanges gives the next positions to committed changes, at most positionBatch,
// and returns how many. The lock of the row of change_feed lets one transaction at a time
// do so. Its next statement sees every change that is committed by then; a change that
// commits later gets a later position. So a reader never finds a change before its cursor
// that it has not read.
//
// Changes of different players are in the order of their times, and those of one player
// in the order of their sequence, even if the clocks of replicas differ.
func (db *DB) PositionChanges(ctx context.Context) (int64, error) {
	var waiting bool
	err := db.sql.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM changes WHERE position IS NULL)`).Scan(&waiting)
	if err != nil || !waiting {
		return 0, err
	}
	var n int64
	err = db.Write(ctx, func(tx *Tx) error {
		var last, at int64
		err := tx.QueryRow(ctx, `
			UPDATE change_feed SET positioned_at = CASE WHEN positioned_at < $1 THEN $1 ELSE positioned_at END
			WHERE id = 1 RETURNING last, positioned_at`, database.Micros(tx.Now)).Scan(&last, &at)
		if err != nil {
			return err
		}
		n, err = tx.Exec(ctx, `
			UPDATE changes SET position = CAST($1 AS BIGINT) + n.ordinal, positioned_at = CAST($2 AS BIGINT)
			FROM (
				SELECT player_id, sequence, row_number() OVER (ORDER BY latest, player_id, sequence) AS ordinal
				FROM (
					SELECT player_id, sequence, max(at) OVER (PARTITION BY player_id ORDER BY sequence) AS latest
					FROM (SELECT player_id, sequence, at FROM changes WHERE position IS NULL ORDER BY player_id, sequence LIMIT $3) AS batch
				) AS timed
			) AS n
			WHERE changes.player_id = n.player_id AND changes.sequence = n.sequence`, last, at, positionBatch)
		if err != nil {
			return err
		}
		return tx.ExecOne(ctx, `UPDATE change_feed SET last = last + $1 WHERE id = 1`, n)
	})
	if err != nil {
		return 0, fmt.Errorf("give positions to changes: %w", err)
	}
	return n, nil
}
