package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

// queueNotices queues an SMS for each note that wants one, as ids and numbers name
// it and its recipient. The row has the id of the notification, which holds the
// words, and is held from the start: the caps are counted when it is sent, so that
// a closing locks no counter that other coaches count by, however many it tells.
func (tx *tx) queueNotices(ctx context.Context, notes []notify.Note, ids []string, numbers map[string]phone.Number) error {
	var values []any
	queued := 0
	for i, n := range notes {
		to := numbers[n.AccountID]
		if gets := tx.db.Settings.GetsSMS; !n.BySMS || gets != nil && !gets(to) {
			continue
		}
		coachID := n.Data.CoachID
		if n.Type == notify.CoachLeft {
			coachID = "" // and none of their caps hold any more
		}
		values = append(values, ids[i], string(notify.Notices), "sms", "queued", reasonHeld, n.AccountID, string(to), string(n.To), text(coachID),
			0, micros(tx.Now), micros(tx.Now.Add(messageLifetime)), micros(tx.Now), micros(tx.Now))
		queued++
	}
	if queued == 0 {
		return nil
	}
	err := tx.Defer(ctx, `
		INSERT INTO deliveries (id, kind, channel, state, reason, account_id, recipient, role, coach_id,
			attempts, due_at, gives_up_at, created_at, updated_at)
		VALUES `+rowsOf(queued, 14), values...)
	if err != nil {
		return fmt.Errorf("queue notices: %w", err)
	}
	tx.wakeOutbox(notify.Notices)
	return nil
}

// Notice returns the notification that a delivery carries; false where there is
// none any more.
func (db *DB) Notice(ctx context.Context, d notify.Delivery) (notify.Notice, bool, error) {
	var n notify.Notice
	err := db.sql.QueryRow(ctx, `SELECT type, body, `+knownRole+` FROM notifications WHERE id = $3`, string(d.To), string(d.Role), d.ID).
		Scan(&n.Type, &n.Text, &n.Readable)
	if errors.Is(err, sql.ErrNoRows) {
		return n, false, nil
	}
	return n, err == nil, err
}
