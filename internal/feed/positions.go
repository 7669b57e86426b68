package feed

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// positionBatch limits the changes that get a position in one transaction.
const positionBatch = 1000

// positionChanges gives the next positions to committed changes, at most positionBatch,
// and returns how many. The lock of the row of change_feed lets one transaction at a time
// do so. Its next statement sees every change that is committed by then; a change that
// commits later gets a later position. So a reader never finds a change before its cursor
// that it has not read.
//
// Changes of different players are in the order of their times, and changes of one player
// in the order of their sequence, even if the clocks of replicas differ.
func positionChanges(ctx context.Context, db *store.DB) (int64, error) {
	var waiting bool
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM changes WHERE position IS NULL)`).Scan(&waiting)
	if err != nil || !waiting {
		return 0, err
	}
	var n int64
	err = db.Write(ctx, func(tx *store.Tx) error {
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
	return n, fault.Wrap(err, "give positions to changes")
}

// positionAll gives positions to all committed changes. Changes without a position are never deleted,
// so the sweep gives one to those that no service has read.
func positionAll(ctx context.Context, db *store.DB) error {
	for {
		if n, err := positionChanges(ctx, db); err != nil || n < positionBatch {
			return err
		}
	}
}

// BeforeSweep gives positions to changes, so that the sweep can delete them later.
func BeforeSweep(ctx context.Context, db *store.DB, _ time.Time) (int64, error) {
	return 0, positionAll(ctx, db)
}

// Expired are the changes and messages that the sweep deletes.
var Expired = []store.Expired{
	{What: "changes", Query: `DELETE FROM changes WHERE position IN (SELECT position FROM changes WHERE position IS NOT NULL ORDER BY position LIMIT $2) AND positioned_at < $1`, Kept: ChangesKept + changesOverlap},
	{What: "messages of webhooks", Query: `DELETE FROM webhook_messages WHERE (webhook_id, id) IN (SELECT webhook_id, id FROM webhook_messages WHERE state <> 'queued' AND updated_at < $1 ORDER BY updated_at LIMIT $2)`, Kept: WebhookMessagesKept},
}
