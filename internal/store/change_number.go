package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/event"
)

// ChangeNumber judges both codes and, where both are right, uses them up and gives
// the coach the new number, all in one transaction. A wrong code is counted and
// nothing else is done.
func (db *DB) ChangeNumber(ctx context.Context, c auth.NumberChange) (auth.NumberChanged, error) {
	var out auth.NumberChanged
	err := db.write(ctx, func(tx *tx) (err error) {
		out = auth.NumberChanged{}
		if out.Current, err = tx.try(ctx, c.Current); err != nil || out.Current.Verdict != auth.RightCode {
			return judged(out.Current, err)
		}
		c.New.Use = true
		if out.New, err = tx.try(ctx, c.New); err != nil || out.New.Verdict != auth.RightCode {
			return judged(out.New, err)
		}
		// Both are right: the first one, which is locked, is now used up as well.
		used := c.Current
		used.Use = true
		if again, err := tx.try(ctx, used); err != nil || again.Verdict != auth.RightCode {
			return errors.Join(err, database.ErrStale)
		}
		out.Ended, err = tx.changeNumber(ctx, c)
		return err
	})
	if errors.Is(err, errNothingTried) {
		err = nil
	}
	if database.IsUnique(err) {
		err = auth.ErrInUse()
	}
	return out, err
}

// judged ends a transaction after a try that was not right: it is kept where the
// code was wrong and has been counted.
func judged(t auth.Tried, err error) error {
	if err == nil && t.Verdict != auth.WrongCode {
		err = errNothingTried
	}
	return err
}

// changeNumber sets the account's number and returns how many other sessions ended.
// It locks the account's row first: a login and the adding of a player lock it too,
// so this sees what they did before, and they see the new number afterwards.
func (tx *tx) changeNumber(ctx context.Context, c auth.NumberChange) (int, error) {
	err := tx.ExecOne(ctx, `
		UPDATE accounts SET mobile_number = $3
		WHERE id = $1 AND mobile_number = $2 AND role = 'coach' AND closed_at IS NULL`,
		c.By.AccountID, string(c.By.Number), string(c.To))
	if errors.Is(err, database.ErrStale) {
		return 0, auth.ErrEnded() // another session of the coach was faster, and ended this one
	}
	if err != nil {
		return 0, err
	}
	if err := tx.checkNewNumber(ctx, c); err != nil {
		return 0, err
	}
	var device string
	err = tx.QueryRow(ctx, `
		UPDATE sessions SET mobile_number = $3
		WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL AND ends_at > $4
		RETURNING device_id`, c.By.SessionID, c.By.AccountID, string(c.To), micros(tx.Now)).Scan(&device)
	if isNone(err) {
		return 0, auth.ErrEnded()
	}
	if err != nil {
		return 0, err
	}
	res, err := tx.Exec(ctx, `
		UPDATE sessions SET revoked_at = $3
		WHERE account_id = $1 AND id <> $2 AND revoked_at IS NULL AND ends_at > $3`,
		c.By.AccountID, c.By.SessionID, micros(tx.Now))
	if err != nil {
		return 0, fmt.Errorf("end other sessions: %w", err)
	}
	ended, err := res.RowsAffected()
	if err != nil {
		return 0, err
	}
	if err := tx.moveDevices(ctx, c, device); err != nil {
		return 0, fmt.Errorf("move devices: %w", err)
	}
	return int(ended), tx.tell(ctx, []event.Event{{
		Type: event.NumberChanged, Party: actor.Coach, PartyID: c.By.AccountID, SessionID: c.By.SessionID,
	}}, func(actor.Role) string { return c.By.AccountID })
}

// moveDevices binds the coach's devices to the new number, so that a later owner of
// the old number is not affected by them. A device on which another role of the old
// number is signed in keeps the old number, unless it is the device of this session.
// Other devices of the old number are deleted if no other role ever signed in on
// them.
func (tx *tx) moveDevices(ctx context.Context, c auth.NumberChange, device string) error {
	err := tx.Defer(ctx, `
		UPDATE devices SET mobile_number = $3
		WHERE mobile_number = $2
			AND id IN (
				SELECT device_id FROM sessions WHERE account_id = $1 AND revoked_at IS NULL
				UNION ALL SELECT device_id FROM sessions WHERE account_id = $1 AND revoked_at IS NOT NULL)
			AND (id = $4 OR id NOT IN (
				SELECT s.device_id FROM accounts a JOIN sessions s ON s.account_id = a.id AND s.revoked_at IS NULL
				WHERE a.mobile_number = $2 AND s.ends_at > $5 AND s.idle_at > $5))`,
		c.By.AccountID, string(c.By.Number), string(c.To), device, micros(tx.Now))
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

// checkNewNumber refuses the number of a guardian or student of the coach's players.
func (tx *tx) checkNewNumber(ctx context.Context, c auth.NumberChange) error {
	var isContact bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM accounts a JOIN players p ON p.guardian_id = a.id AND p.deleted_at IS NULL
				WHERE a.mobile_number = $2 AND a.role = 'guardian' AND p.coach_id = $1)
			OR EXISTS (SELECT 1 FROM accounts a JOIN players p ON p.student_id = a.id AND p.deleted_at IS NULL
				WHERE a.mobile_number = $2 AND a.role = 'student' AND p.coach_id = $1)`,
		c.By.AccountID, string(c.To)).Scan(&isContact)
	if err != nil {
		return err
	}
	return approval.CheckCoachNumber(isContact, tx.db.Settings.AllowCoachAsContact)
}
