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

// SendExpiryNotices tells the coaches of up to n certificates whose notice is due
// that these end, and returns how many it looked at. Each is one guarded
// transaction, so that of all replicas one tells.
func (db *DB) SendExpiryNotices(ctx context.Context, n int) (int, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT `+documentColumns+`
		FROM documents d WHERE d.notice_at <= $1 ORDER BY d.notice_at, d.id LIMIT $2`, micros(db.Now()), n)
	due, err := database.Collect(rs, err, scanDocument)
	if err != nil {
		return 0, fmt.Errorf("find certificates that end: %w", err)
	}
	var failed []error
	for _, d := range due {
		err := db.write(ctx, func(tx *tx) error { return tx.expiryNotice(ctx, d) })
		if err != nil {
			failed = append(failed, fmt.Errorf("tell that document %s ends: %w", d.ID, err))
		}
		if ctx.Err() != nil || fault.KindOf(err) == fault.Unavailable {
			break // it would be the same with all of them
		}
	}
	return len(due), errors.Join(failed...)
}

// expiryNotice tells of one certificate, and when to tell again. Another replica
// that was faster, or the coach who changed it meanwhile, has moved the version:
// then nothing is done.
func (tx *tx) expiryNotice(ctx context.Context, d coach.Document) error {
	res, err := tx.Exec(ctx, `UPDATE documents SET notice_at = $3, version = version + 1 WHERE id = $1 AND version = $2`,
		d.ID, d.Version, micros(d.NextNotice(tx.Now)))
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	return tx.tell(ctx, []event.Event{{
		Type: event.CertificateExpiring, CoachID: d.CoachID, DocumentID: d.ID, Title: d.Title, Day: string(d.ExpiresOn),
	}}, func(actor.Role) string { return d.CoachID })
}
