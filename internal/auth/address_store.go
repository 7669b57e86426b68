package auth

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// ConfirmAddress evaluates the code. If it is correct, it consumes the code and saves the address.
// It locks the session: a sign-out everywhere, or the end of the role, at the same time must end the
// confirmation. The end of the role sets idle_at to 0.
func (db Store) ConfirmAddress(ctx context.Context, c AddressConfirmation) (VerificationResult, error) {
	var result VerificationResult
	err := db.DB.Write(ctx, func(tx *store.Tx) (err error) {
		result, err = db.verifyOTP(ctx, tx, c.Attempt)
		if err != nil || result.Outcome != CorrectCode {
			return rollbackUnlessEvaluated(result, err)
		}
		err = tx.ExecOne(ctx, `
			UPDATE sessions SET last_used_at = $3 WHERE id = $1 AND mobile_number = $2 AND revoked_at IS NULL AND idle_at > 0`,
			c.By.SessionID, string(c.By.Number), database.Micros(tx.Now))
		if errors.Is(err, database.ErrStale) {
			return fault.SessionEnded()
		}
		if err != nil {
			return err
		}
		return tx.Defer(ctx, `
			INSERT INTO confirmed_addresses (mobile_number, role, address, ends_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (mobile_number, role) DO UPDATE SET address = excluded.address, ends_at = excluded.ends_at`,
			string(c.By.Number), string(c.By.Role), c.Address, database.Micros(tx.Now.Add(AddressLifetime)))
	})
	return result, ignoreNotEvaluated(err)
}

// ConfirmedAddress returns the address that is confirmed for a number and role, or "".
func (db Store) ConfirmedAddress(ctx context.Context, n phone.Number, role actor.Role) (address string, err error) {
	err = db.DB.QueryRow(ctx, `
		SELECT address FROM confirmed_addresses WHERE mobile_number = $1 AND role = $2 AND ends_at > $3`,
		string(n), string(role), database.Micros(db.DB.Now())).Scan(&address)
	if err != nil && !database.IsNoRows(err) {
		return "", fmt.Errorf("read confirmed address: %w", err)
	}
	return address, nil
}

// RemoveAddress ends the confirmation of an address. It may be repeated.
func (db Store) RemoveAddress(ctx context.Context, n phone.Number, role actor.Role) error {
	return db.DB.Write(ctx, func(tx *store.Tx) error { return db.removeAddress(ctx, tx, n, role) })
}

func (db Store) removeAddress(ctx context.Context, tx *store.Tx, n phone.Number, role actor.Role) error {
	return tx.Defer(ctx, `DELETE FROM confirmed_addresses WHERE mobile_number = $1 AND role = $2`, string(n), string(role))
}

// useAddress extends the confirmation of the address to which the correct code of key was sent. It
// returns false if the confirmation ended after the code was sent: the code then no longer works.
func (db Store) useAddress(ctx context.Context, tx *store.Tx, key ChallengeKey) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE confirmed_addresses SET ends_at = $4 WHERE mobile_number = $1 AND role = $2 AND ends_at > $3`,
		string(key.Number), string(key.Role), database.Micros(tx.Now), database.Micros(tx.Now.Add(AddressLifetime)))
	return n == 1, err
}

// OnlyEmailCode reports whether a code that was sent by mail for email has not ended, while no code
// of the other keys can be used.
func (db Store) OnlyEmailCode(ctx context.Context, email ChallengeKey, a Attempt) (only bool, err error) {
	now := database.Micros(a.Now)
	query := `SELECT EXISTS (SELECT 1 FROM otp_challenges WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND ends_at > $4)`
	args := []any{string(email.Number), string(email.Role), email.DeviceID, now, a.MaxAttempts}
	for _, key := range a.Keys {
		query += fmt.Sprintf(` AND NOT EXISTS (
			SELECT 1 FROM otp_challenges WHERE mobile_number = $1 AND role = $2 AND device_id = $%d AND used_at IS NULL AND ends_at > $4 AND attempts < $5
				AND NOT EXISTS (SELECT 1 FROM otp_failures f WHERE f.who = $%d AND f.blocked_until > $4))`, len(args)+1, len(args)+2)
		args = append(args, key.DeviceID, subject(key))
	}
	if err := db.DB.QueryRow(ctx, query, args...).Scan(&only); err != nil {
		return false, fmt.Errorf("find codes by mail: %w", err)
	}
	return only, nil
}
