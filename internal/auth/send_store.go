package auth

import (
	"context"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// recordSend records that the OTP of c is sent. A resend changes nothing.
func (db Store) recordSend(ctx context.Context, tx *store.Tx, c Challenge, to Destination) error {
	if to.Block == "" {
		return nil
	}
	err := tx.Defer(ctx, `
		INSERT INTO otp_sends (challenge_id, block, country, network, ends_at, used) VALUES ($1, $2, $3, $4, $5, FALSE)
		ON CONFLICT (challenge_id) DO NOTHING`,
		c.ID, to.Block, to.Country, to.Network, database.Micros(c.EndsAt))
	return fault.Wrap(err, "record OTP send")
}

// codeUse is the use of the OTPs that were sent to a block and to its country.
type codeUse struct{ block, country CodeUse }

// fraud reports whether either looks like toll fraud.
func (u *codeUse) fraud() bool { return u.block.BlockFraud() || u.country.CountryFraud() }

// readCodeUse reads the use of the OTPs that were sent to the destination of r. Only OTPs
// whose validity ended in the last FraudWindow count. The result is complete after the next
// statement or Flush.
func (db Store) readCodeUse(ctx context.Context, tx *store.Tx, r ChallengeRequest) (*codeUse, error) {
	use, to, now := new(codeUse), r.Destination, r.Challenge.SentAt
	into := func(u *CodeUse) func(database.Scanner) error {
		return func(row database.Scanner) error { return row.Scan(&u.Codes, &u.Used, &u.Networks) }
	}
	err := tx.DeferRow(ctx, into(&use.block), `
		SELECT count(*), count(*) FILTER (WHERE used = TRUE), count(DISTINCT network) FROM otp_sends
		WHERE block = $1 AND ends_at > $2 AND ends_at <= $3`,
		to.Block, database.Micros(now.Add(-FraudWindow)), database.Micros(now))
	if err == nil && to.Country != "" {
		// country <> '' makes the partial index otp_sends_by_country usable.
		err = tx.DeferRow(ctx, into(&use.country), `
			SELECT count(*), count(*) FILTER (WHERE used = TRUE), count(DISTINCT network) FROM otp_sends
			WHERE country = $1 AND country <> '' AND ends_at > $2 AND ends_at <= $3`,
			to.Country, database.Micros(now.Add(-FraudWindow)), database.Micros(now))
	}
	return use, fault.Wrap(err, "read use of OTPs")
}
