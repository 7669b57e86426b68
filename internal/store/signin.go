package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/phone"
)

// knownRole says of the number $1 whether it is known in the role $2: a coach who
// has registered, a guardian or student whom a player names, or who disputed a
// request and must stay able to lift that.
const knownRole = `(EXISTS (SELECT 1 FROM accounts a JOIN coaches c ON c.id = a.id WHERE a.mobile_number = $1 AND a.role = $2 AND $2 = 'coach')
	OR EXISTS (SELECT 1 FROM accounts a JOIN players p ON p.guardian_id = a.id AND p.deleted_at IS NULL WHERE a.mobile_number = $1 AND a.role = $2 AND $2 = 'guardian')
	OR EXISTS (SELECT 1 FROM accounts a JOIN players p ON p.student_id = a.id AND p.deleted_at IS NULL WHERE a.mobile_number = $1 AND a.role = $2 AND $2 = 'student')
	OR EXISTS (SELECT 1 FROM accounts a JOIN disputes d ON d.approver_id = a.id WHERE a.mobile_number = $1 AND a.role = $2))`

// stillKnown answers ErrStale once the number is no longer known in the role.
func (tx *tx) stillKnown(ctx context.Context, n phone.Number, role actor.Role) error {
	var known bool
	err := tx.QueryRow(ctx, `SELECT `+knownRole, string(n), string(role)).Scan(&known)
	if err == nil && !known {
		err = database.ErrStale
	}
	return err
}

// mayHold says whether a number may sign in as role: anyone may be a coach.
func mayHold(role actor.Role, known bool) bool { return known || role == actor.Coach }

// signIn opens the session of a right code: the account, the device, the session.
func (tx *tx) signIn(ctx context.Context, in *auth.SignIn, by holder) error {
	s := *in.Session
	if s.Role == actor.Coach && by.known {
		if by.account == "" {
			return database.ErrStale // it has gone, or was suspended, while the guess was counted
		}
		s.AccountID, s.Filled = by.account, by.filled
	} else if err := tx.account(ctx, &s); err != nil {
		return err
	}
	err := tx.Defer(ctx, `
		INSERT INTO devices (id, token_hash, mobile_number, ends_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET ends_at = excluded.ends_at`,
		s.DeviceID, in.DeviceHash, string(s.Number), micros(in.DeviceEnds))
	if err != nil {
		return fmt.Errorf("register device: %w", err)
	}
	err = tx.Defer(ctx, `
		INSERT INTO sessions (id, account_id, role, mobile_number, device_id, device_name, generation, refresh_hash,
			created_at, last_used_at, idle_at, ends_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11)`,
		s.ID, s.AccountID, string(s.Role), string(s.Number), s.DeviceID, text(s.DeviceName), s.Generation, in.RefreshHash,
		micros(s.CreatedAt), micros(s.IdleAt), micros(s.EndsAt))
	if err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	tx.AfterCommit(func() { in.Session.AccountID, in.Session.Filled = s.AccountID, s.Filled })
	return nil
}

// account finds the account of a session, makes it where there is none, and keeps
// it as it is until the commit: a coach's first login registers the coach.
func (tx *tx) account(ctx context.Context, s *auth.Session) error {
	var suspended bool
	err := tx.QueryRow(ctx, `
		INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) VALUES ($1, $2, $3, 0, $4)
		ON CONFLICT (mobile_number, role) DO UPDATE SET tray_seq = accounts.tray_seq
		RETURNING id, suspended_at IS NOT NULL, `+filledBy+`accounts.id)`,
		s.AccountID, string(s.Number), string(s.Role), micros(tx.Now)).Scan(&s.AccountID, &suspended, intoWords(&s.Filled))
	if err != nil {
		return fmt.Errorf("find account: %w", err)
	}
	if suspended {
		return database.ErrStale // while the guess was counted
	}
	if s.Role != actor.Coach {
		// The account's row is locked now: a link that ended while we waited for it
		// has taken the role with it.
		return tx.stillKnown(ctx, s.Number, s.Role)
	}
	err = tx.Defer(ctx, `
		INSERT INTO coaches (id, sports, version, created_at, updated_at) VALUES ($1, '[]', 1, $2, $2)
		ON CONFLICT (id) DO NOTHING`, s.AccountID, micros(tx.Now))
	if err != nil {
		return fmt.Errorf("register coach: %w", err)
	}
	return nil
}
