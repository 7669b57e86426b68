package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
)

// queueCopies queues the copies of notifications that leave the app. ids and accounts
// belong to the drafts.
func (tx *tx) queueCopies(ctx context.Context, drafts []notify.Draft, ids []string, accounts map[string]*trayAccount) error {
	var values []any
	queued := 0
	for i, d := range drafts {
		to := accounts[d.AccountID].number
		coachID := d.Data.CoachID
		if d.Type == notify.CoachLeft {
			coachID = "" // the coach's own limits no longer apply
		}
		for _, channel := range d.Channels {
			if reachable := tx.db.options.Settings.Reachable; reachable != nil && !reachable(channel, to) {
				continue
			}
			values = append(values, tx.db.options.NewID(), ids[i], string(notify.NotificationCopy), string(channel), "queued",
				d.AccountID, string(to), string(d.To), text(coachID),
				0, micros(tx.Now), micros(tx.Now.Add(notify.MessageLifetime)), micros(tx.Now), micros(tx.Now))
			queued++
			tx.wakeOutbox(notify.Lane{Channel: channel, Kind: notify.NotificationCopy})
		}
	}
	if queued == 0 {
		return nil
	}
	err := tx.Defer(ctx, `
		INSERT INTO deliveries (id, notification_id, kind, channel, state, account_id, recipient, role, coach_id,
			attempts, due_at, gives_up_at, created_at, updated_at)
		VALUES `+rowsOf(queued, 14), values...)
	if err != nil {
		return fmt.Errorf("queue copies of notifications: %w", err)
	}
	return nil
}

// NotificationCopy returns the notification of a delivery and to whom it goes, or false if
// it was deleted.
func (db *DB) NotificationCopy(ctx context.Context, d notify.Delivery) (notify.Copy, notify.Recipient, bool, error) {
	var c notify.Copy
	var to notify.Recipient
	var roles auth.RoleFacts
	err := db.sql.QueryRow(ctx, `
		SELECT n.type, n.body, a.mobile_number,
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = a.mobile_number AND st.coach_id = $4),
			`+roleFacts+`, `+preferenceColumns+`
		FROM notifications n LEFT JOIN accounts a ON a.id = n.account_id
		LEFT JOIN preferences ON preferences.mobile_number = a.mobile_number
		WHERE n.id = $3`, d.To, string(d.Role), d.NotificationID, d.CoachID).
		Scan(append([]any{&c.Type, &c.Text, intoText((*string)(&to.Number)), &to.Stopped, &roles.Registered, &roles.Linked, &roles.Disputed},
			preferenceDest(&to.Preferences)...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return c, to, false, nil
	}
	c.Readable = roles.Held()
	return c, to, err == nil, err
}
