package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
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
			return errors.Join(err, errStale)
		}
		out.Ended, err = tx.changeNumber(ctx, c)
		return err
	})
	if errors.Is(err, errNothingTried) {
		err = nil
	}
	if isUnique(err) {
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

// changeNumber gives the account its new number, and returns how many sessions
// elsewhere ended. The account's row comes first: a login and the adding of a
// player hold it, so what they did before is seen below, and what they do after
// sees the new number.
func (tx *tx) changeNumber(ctx context.Context, c auth.NumberChange) (int, error) {
	err := tx.execOne(ctx, `
		UPDATE accounts SET mobile_number = $3
		WHERE id = $1 AND mobile_number = $2 AND role = 'coach' AND closed_at IS NULL`,
		c.By.AccountID, string(c.By.Number), string(c.To))
	if errors.Is(err, errStale) {
		return 0, auth.ErrEnded() // another session of the coach was faster, and ended this one
	}
	if err != nil {
		return 0, err
	}
	if err := tx.noContact(ctx, c); err != nil {
		return 0, err
	}
	var device string
	err = tx.queryRow(ctx, `
		UPDATE sessions SET mobile_number = $3
		WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL AND ends_at > $4
		RETURNING device_id`, c.By.SessionID, c.By.AccountID, string(c.To), micros(tx.now)).Scan(&device)
	if isNone(err) {
		return 0, auth.ErrEnded()
	}
	if err != nil {
		return 0, err
	}
	res, err := tx.exec(ctx, `
		UPDATE sessions SET revoked_at = $3
		WHERE account_id = $1 AND id <> $2 AND revoked_at IS NULL AND ends_at > $3`,
		c.By.AccountID, c.By.SessionID, micros(tx.now))
	if err != nil {
		return 0, fmt.Errorf("end sessions elsewhere: %w", err)
	}
	ended, err := res.RowsAffected()
	if err != nil {
		return 0, err
	}
	_, err = tx.exec(ctx, `UPDATE devices SET mobile_number = $3 WHERE id = $1 AND mobile_number = $2`, device, string(c.By.Number), string(c.To))
	if err != nil {
		return 0, fmt.Errorf("bind device: %w", err)
	}
	return int(ended), tx.tell(ctx, []event.Event{{
		Type: event.NumberChanged, Party: actor.Coach, PartyID: c.By.AccountID, SessionID: c.By.SessionID,
	}}, func(actor.Role) string { return c.By.AccountID })
}

// noContact refuses the number of a guardian or student of the coach's own.
func (tx *tx) noContact(ctx context.Context, c auth.NumberChange) error {
	if tx.db.Settings.AllowCoachAsContact {
		return nil
	}
	var theirs bool
	err := tx.queryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM accounts a JOIN players p ON p.guardian_id = a.id AND p.deleted_at IS NULL
				WHERE a.mobile_number = $2 AND a.role = 'guardian' AND p.coach_id = $1)
			OR EXISTS (SELECT 1 FROM accounts a JOIN players p ON p.student_id = a.id AND p.deleted_at IS NULL
				WHERE a.mobile_number = $2 AND a.role = 'student' AND p.coach_id = $1)`,
		c.By.AccountID, string(c.To)).Scan(&theirs)
	if err == nil && theirs {
		err = auth.ErrContact("own_contact", "This is the number of a guardian or student of one of your players.")
	}
	return err
}
