package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/database"
)

// SendExpiryNotifications notifies the coaches of up to n certificates whose expiry
// notification is due, and returns how many it found. Each one is sent in a transaction
// that checks the document's version, so that only one replica sends it.
func (db *DB) SendExpiryNotifications(ctx context.Context, n int) (int, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT `+documentColumns+`
		FROM documents d WHERE d.notice_at <= $1 ORDER BY d.notice_at, d.id LIMIT $2`, database.Micros(db.Now()), n)
	due, err := database.Collect(rs, err, scanDocument)
	if err != nil {
		return 0, fmt.Errorf("find due expiry notifications: %w", err)
	}
	what := func(d coach.Document) string { return "send expiry notification of document " + d.ID }
	return len(due), WriteEach(ctx, db, due, what, func(tx *Tx, d coach.Document) error { return tx.sendExpiryNotification(ctx, d) })
}

// sendExpiryNotification notifies the coach of one certificate and schedules the next one.
// It does nothing if another replica or the coach changed the document meanwhile.
func (tx *Tx) sendExpiryNotification(ctx context.Context, d coach.Document) error {
	n, err := tx.Exec(ctx, `UPDATE documents SET notice_at = $3, version = version + 1 WHERE id = $1 AND version = $2`,
		d.ID, d.Version, database.Micros(d.NextExpiryNotification(tx.Now)))
	if err != nil || n == 0 {
		return err
	}
	return tx.Notify(ctx, []event.Event{d.ExpiryEvent()})
}
