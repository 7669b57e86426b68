package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
)

// ChangeNumber evaluates both codes. If both are correct, it consumes them and gives
// the coach the new number. All of it is one transaction. A wrong code is counted and
// changes nothing else.
func (db Store) ChangeNumber(ctx context.Context, c NumberChange) (NumberChangeResult, error) {
	var out NumberChangeResult
	err := db.DB.Write(ctx, func(tx *store.Tx) (err error) {
		out = NumberChangeResult{}
		out.Current, err = db.verifyOTP(ctx, tx, c.Current)
		if err != nil || out.Current.Outcome != CorrectCode {
			return db.completeWrongOTP(ctx, tx, "current", out.Current, err)
		}
		c.New.Consume = true
		out.New, err = db.verifyOTP(ctx, tx, c.New)
		if err != nil || out.New.Outcome != CorrectCode {
			return db.completeWrongOTP(ctx, tx, "new", out.New, err)
		}
		// Both are correct: now consume the first one, whose row is locked.
		consume := c.Current
		consume.Consume = true
		if again, err := db.verifyOTP(ctx, tx, consume); err != nil || again.Outcome != CorrectCode {
			return errors.Join(err, database.ErrStale)
		}
		out.Ended, err = db.changeNumber(ctx, tx, c)
		if err != nil {
			return err
		}
		return tx.Complete(ctx, idempotency.Work{ID: c.By.AccountID, Number: out.Ended})
	})
	err = ignoreNotEvaluated(err)
	if database.IsUnique(err) {
		err = ErrNumberInUse()
	}
	if err != nil {
		return out, err
	}
	ids := []slog.Attr{account(c.By.AccountID), session(c.By.SessionID)}
	db.attempt(ctx, out.Current, ids...)
	if out.Current.Outcome != CorrectCode {
		return out, nil // the code of the new number was not evaluated
	}
	db.attempt(ctx, out.New, ids...)
	db.sessions("ended", out.Ended)
	if out.New.Outcome == CorrectCode {
		db.event(ctx, "setting_changed", append(ids, slog.String("setting", "mobile_number"), slog.Int("sessions_ended", out.Ended))...)
	}
	return out, nil
}

// changeNumber sets the account's number and returns how many other sessions ended.
// It locks the account's row first: a login and the adding of a player lock it too,
// so this sees what they did before, and they see the new number afterwards.
func (db Store) changeNumber(ctx context.Context, tx *store.Tx, c NumberChange) (int, error) {
	err := tx.ExecOne(ctx, `
		UPDATE accounts SET mobile_number = $3
		WHERE id = $1 AND mobile_number = $2 AND role = 'coach' AND closed_at IS NULL`,
		c.By.AccountID, string(c.By.Number), string(c.To))
	if errors.Is(err, database.ErrStale) {
		return 0, fault.SessionEnded() // another session changed the number or closed the account
	}
	if err != nil {
		return 0, err
	}
	if err := db.DB.Hooks().Consents.CheckNumber(ctx, tx, c.By.AccountID, c.To); err != nil {
		return 0, err
	}
	if err := db.addFormerNumber(ctx, tx, c.By, false); err != nil {
		return 0, err
	}
	var device string
	err = tx.QueryRow(ctx, `
		UPDATE sessions SET mobile_number = $3
		WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL AND ends_at > $4
		RETURNING device_id`, c.By.SessionID, c.By.AccountID, string(c.To), database.Micros(tx.Now)).Scan(&device)
	if database.IsNoRows(err) {
		return 0, fault.SessionEnded()
	}
	if err != nil {
		return 0, err
	}
	ended, err := tx.Exec(ctx, `
		UPDATE sessions SET revoked_at = $3
		WHERE account_id = $1 AND id <> $2 AND revoked_at IS NULL AND ends_at > $3`,
		c.By.AccountID, c.By.SessionID, database.Micros(tx.Now))
	if err != nil {
		return 0, fmt.Errorf("end other sessions: %w", err)
	}
	if err := notice.EndPushOfAccount(ctx, tx.Tx, c.By.AccountID, c.By.SessionID); err != nil {
		return 0, err
	}
	if err := tx.Defer(ctx, `DELETE FROM passkeys WHERE account_id = $1`, c.By.AccountID); err != nil {
		return 0, fmt.Errorf("remove passkeys: %w", err)
	}
	if err := db.moveDevices(ctx, tx, c, device); err != nil {
		return 0, fmt.Errorf("move devices: %w", err)
	}
	if err := db.removeAddress(ctx, tx, c.By.Number, c.By.Role); err != nil {
		return 0, err
	}
	if err := outbox.CopyPreferences(ctx, tx.Tx, c.By.Number, c.To); err != nil {
		return 0, err
	}
	if err := outbox.DeleteUnusedPreferences(ctx, tx.Tx, c.By.Number, ""); err != nil {
		return 0, err
	}
	return int(ended), notice.Notify(ctx, tx, []event.Event{c.Event()})
}

// moveDevices binds the coach's devices to the new number, so that a later owner of
// the old number is not affected by them. A device on which another role of the old
// number is signed in keeps the old number, unless it is the device of this session.
// Other devices of the old number are deleted if no other role ever signed in on them.
func (db Store) moveDevices(ctx context.Context, tx *store.Tx, c NumberChange, device string) error {
	err := tx.Defer(ctx, `
		UPDATE devices SET mobile_number = $3
		WHERE mobile_number = $2
			AND id IN (
				SELECT device_id FROM sessions WHERE account_id = $1 AND revoked_at IS NULL
				UNION ALL SELECT device_id FROM sessions WHERE account_id = $1 AND revoked_at IS NOT NULL)
			AND (id = $4 OR id NOT IN (
				SELECT s.device_id FROM accounts a JOIN sessions s ON s.account_id = a.id AND s.revoked_at IS NULL
				WHERE a.mobile_number = $2 AND s.ends_at > $5 AND s.idle_at > $5))`,
		c.By.AccountID, string(c.By.Number), string(c.To), device, database.Micros(tx.Now))
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		DELETE FROM devices
		WHERE mobile_number = $1 AND id NOT IN (
			SELECT s.device_id FROM accounts a JOIN sessions s ON s.account_id = a.id AND s.revoked_at IS NULL WHERE a.mobile_number = $1
			UNION ALL
			SELECT s.device_id FROM accounts a JOIN sessions s ON s.account_id = a.id AND s.revoked_at IS NOT NULL WHERE a.mobile_number = $1)`,
		string(c.By.Number))
	return err
}
