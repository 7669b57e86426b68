package auth

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// roleFacts selects RoleFacts of the number $1 in role, which is $2. It names only the
// tables that role depends on: PostgreSQL prepares each subquery for each execution. An
// account of a coach has a profile: one transaction inserts both, and a closure frees the
// number.
func roleFacts(role actor.Role) string {
	kept := `EXISTS (SELECT 1 FROM accounts a JOIN disputes d ON d.approver_id = a.id WHERE a.mobile_number = $1 AND a.role = $2)`
	if role == actor.Guardian {
		kept += ` OR EXISTS (SELECT 1 FROM accounts a JOIN former_guardians f ON f.account_id = a.id WHERE a.mobile_number = $1 AND a.role = $2)`
	}
	switch role {
	case actor.Coach:
		return `EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1 AND a.role = $2), FALSE, FALSE`
	default:
		return `FALSE, EXISTS (SELECT 1 FROM accounts a JOIN parties p ON p.account_id = a.id AND p.deleted_at IS NULL
			WHERE a.mobile_number = $1 AND a.role = $2), ` + kept
	}
}

// signIn opens the session of a correct code: the account, the device, the session.
func (db Store) signIn(ctx context.Context, tx *store.Tx, in *SignIn, c *countedAttempt) error {
	s := *in.Session
	if s.Role == actor.Coach && c.Roles.Held() {
		if c.accountID == "" {
			return database.ErrStale // the account was closed or suspended after roleFacts was read
		}
		s.AccountID, s.FilledFields = c.accountID, c.filled
	} else if err := db.findOrAddAccount(ctx, tx, &s); err != nil {
		return err
	}
	return db.openSession(ctx, tx, in, s)
}

// openSession saves the device and the session s of an account.
func (db Store) openSession(ctx context.Context, tx *store.Tx, in *SignIn, s Session) error {
	err := tx.Defer(ctx, `
		INSERT INTO devices (id, token_hash, mobile_number, ends_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET ends_at = excluded.ends_at`,
		s.DeviceID, in.DeviceHash, string(s.Number), database.Micros(in.DeviceEnds))
	if err != nil {
		return fmt.Errorf("register device: %w", err)
	}
	if err := db.markCoachDevices(ctx, tx, s, in); err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		INSERT INTO sessions (id, account_id, role, mobile_number, device_id, device_name, generation, refresh_hash,
			created_at, last_used_at, idle_at, ends_at, page_idle, passkey)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13)`,
		s.ID, s.AccountID, string(s.Role), string(s.Number), s.DeviceID, database.Text(s.DeviceName), s.Generation, in.RefreshHash,
		database.Micros(s.CreatedAt), database.Micros(s.IdleAt), database.Micros(s.EndsAt), database.Duration(s.PageIdle), s.Passkey)
	if err != nil {
		return fmt.Errorf("open session: %w", err)
	}
	tx.AfterCommit(func() { in.Session.AccountID, in.Session.FilledFields = s.AccountID, s.FilledFields })
	return nil
}

// markCoachDevices saves that the device of a sign-in is also a device of coaches: of the coach who
// signs in, on each known device whose token the request presented; or, for a family, of each coach
// who signed in on one of these devices before.
func (db Store) markCoachDevices(ctx context.Context, tx *store.Tx, s Session, in *SignIn) error {
	presented := make([]any, len(in.OtherDevices))
	for i, hash := range in.OtherDevices {
		presented[i] = hash
	}
	var err error
	switch {
	case s.Role == actor.Coach:
		err = tx.Defer(ctx, `
			INSERT INTO coach_devices (token_hash, coach_id, ends_at)
			SELECT d.token_hash, CAST($1 AS TEXT), d.ends_at FROM devices d WHERE d.token_hash IN (`+database.Params(2, 1+len(presented))+`)
			ON CONFLICT (token_hash, coach_id) DO UPDATE SET ends_at = excluded.ends_at`,
			append([]any{s.AccountID, in.DeviceHash}, presented...)...)
	case len(presented) > 0:
		err = tx.Defer(ctx, `
			INSERT INTO coach_devices (token_hash, coach_id, ends_at)
			SELECT d.token_hash, c.coach_id, d.ends_at
			FROM devices d, coach_devices c
			WHERE d.token_hash = $1 AND c.token_hash IN (`+database.Params(2, len(presented))+`)
			GROUP BY d.token_hash, c.coach_id, d.ends_at
			ON CONFLICT (token_hash, coach_id) DO UPDATE SET ends_at = excluded.ends_at`,
			append([]any{in.DeviceHash}, presented...)...)
	}
	return fault.Wrap(err, "mark devices of coaches")
}

// findOrAddAccount sets the account of s, and locks its row until the commit. A
// coach's first login registers the coach.
func (db Store) findOrAddAccount(ctx context.Context, tx *store.Tx, s *Session) error {
	var suspended bool
	err := tx.QueryRow(ctx, `
		INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) VALUES ($1, $2, $3, 0, $4)
		ON CONFLICT (mobile_number, role) DO UPDATE SET tray_seq = accounts.tray_seq
		RETURNING id, suspended_at IS NOT NULL, `+store.FilledBy+`accounts.id)`,
		s.AccountID, string(s.Number), string(s.Role), database.Micros(tx.Now)).Scan(&s.AccountID, &suspended, database.IntoWords(&s.FilledFields))
	if err != nil {
		return fmt.Errorf("find account: %w", err)
	}
	if suspended {
		return database.ErrStale // the account was suspended after the attempt was counted
	}
	if s.Role != actor.Coach {
		return db.checkRoleHeld(ctx, tx, s.Number, s.Role)
	}
	err = tx.Defer(ctx, `
		INSERT INTO coaches (id, sports, version, created_at, updated_at) VALUES ($1, '[]', 1, $2, $2)
		ON CONFLICT (id) DO NOTHING`, s.AccountID, database.Micros(tx.Now))
	if err != nil {
		return fmt.Errorf("register coach: %w", err)
	}
	return db.inheritFormerNumbers(ctx, tx, s)
}

// checkRoleHeld reads the role facts again, now that the account's row is locked. It
// returns ErrStale if the last link of the number ended while this transaction waited.
func (db Store) checkRoleHeld(ctx context.Context, tx *store.Tx, n phone.Number, role actor.Role) error {
	var f RoleFacts
	err := tx.QueryRow(ctx, `SELECT `+roleFacts(role), string(n), string(role)).Scan(&f.Registered, &f.Linked, &f.Kept)
	if err == nil && !f.MaySignIn(role) {
		err = database.ErrStale
	}
	return err
}
