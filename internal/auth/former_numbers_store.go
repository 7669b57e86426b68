package auth

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// addFormerNumber saves that a coach gives up the number of by. The caller has changed the row
// of the account, so that a transaction that names the number as a contact waits for this one.
func (db Store) addFormerNumber(ctx context.Context, tx *store.Tx, by actor.Actor, closed bool) error {
	hash := db.DB.NumberHash(by.Number)
	if hash == nil {
		return store.ErrNoVault
	}
	err := tx.Defer(ctx, `
		INSERT INTO former_numbers (account_id, number_hash, left_at, closed) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, number_hash) DO UPDATE SET left_at = excluded.left_at, closed = excluded.closed`,
		by.AccountID, hash, database.Micros(tx.Now), closed)
	return fault.Wrap(err, "save former number")
}

// inheritFormerNumbers gives a new coach the former numbers of each account that was closed with
// the same number, and the stops of families: to close an account and to register again must not make them free.
func (db Store) inheritFormerNumbers(ctx context.Context, tx *store.Tx, s *Session) error {
	hash := db.DB.NumberHash(s.Number)
	if hash == nil {
		return nil
	}
	since := database.Micros(tx.Now.Add(-FormerNumbersKept))
	err := tx.Defer(ctx, `
		INSERT INTO former_numbers (account_id, number_hash, left_at)
		SELECT CAST($1 AS TEXT), f.number_hash, max(f.left_at)
		FROM former_numbers closed JOIN former_numbers f ON f.account_id = closed.account_id AND f.number_hash <> $2
		WHERE closed.number_hash = $2 AND closed.closed = TRUE AND closed.left_at > $3
		GROUP BY f.number_hash
		ON CONFLICT (account_id, number_hash) DO NOTHING`,
		s.AccountID, hash, since)
	if err == nil {
		err = tx.Defer(ctx, `
			INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at, by_reply, told)
			SELECT st.mobile_number, CAST($1 AS TEXT), st.stopped_at, st.by_reply, st.told
			FROM former_numbers closed JOIN stopped_coaches st ON st.coach_id = closed.account_id
			WHERE closed.number_hash = $2 AND closed.closed = TRUE AND closed.left_at > $3
			ON CONFLICT (mobile_number, coach_id) DO NOTHING`, s.AccountID, hash, since)
	}
	if err == nil { // else a stop that ends here would come back with the next account
		err = tx.Defer(ctx, `
			DELETE FROM stopped_coaches
			WHERE coach_id IN (SELECT account_id FROM former_numbers WHERE number_hash = $1 AND closed = TRUE AND left_at > $2)`, hash, since)
	}
	if err != nil {
		return fmt.Errorf("inherit former numbers: %w", err)
	}
	return nil
}
