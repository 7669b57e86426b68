package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/fault"
)

// SendExpiryNotices notifies the coaches of up to n certificates whose expiry
// notice is due, and returns how many it found. Each notice is one guarded
// transaction, so that only one replica sends it.
func (db *DB) SendExpiryNotices(ctx context.Context, n int) (int, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT `+documentColumns+`
		FROM documents d WHERE d.notice_at <= $1 ORDER BY d.notice_at, d.id LIMIT $2`, micros(db.Now()), n)
	due, err := database.Collect(rs, err, scanDocument)
	if err != nil {
		return 0, fmt.Errorf("find due expiry notices: %w", err)
	}
	var failed []error
	for _, d := range due {
		err := db.write(ctx, func(tx *tx) error { return tx.expiryNotice(ctx, d) })
		if err != nil {
			failed = append(failed, fmt.Errorf("send expiry notice of document %s: %w", d.ID, err))
		}
		if ctx.Err() != nil || fault.KindOf(err) == fault.Unavailable {
			break // the others would fail as well
		}
	}
	return len(due), errors.Join(failed...)
}

// expiryNotice notifies the coach of one certificate and schedules the next notice.
// It does nothing if another replica or the coach changed the document meanwhile.
func (tx *tx) expiryNotice(ctx context.Context, d coach.Document) error {
	res, err := tx.Exec(ctx, `UPDATE documents SET notice_at = $3, version = version + 1 WHERE id = $1 AND version = $2`,
		d.ID, d.Version, micros(d.NextNotice(tx.Now)))
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	return tx.notify(ctx, []event.Event{{
		Type: event.CertificateExpiring, CoachID: d.CoachID, DocumentID: d.ID, Title: d.Title, Day: string(d.ExpiresOn),
	}}, func(actor.Role) string { return d.CoachID })
}
