package store

import (
	"context"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
)

// LiveChallenge returns the challenge of an OTP delivery, and whether the number holds the
// role. live is false if the code no longer works, if wrong codes block the number or
// device, if the number may not sign in, or if a code by mail has no confirmed address. It then gets
// no OTP.
func (db *DB) LiveChallenge(ctx context.Context, d message.Delivery, maxAttempts int) (c auth.Challenge, holdsRole, live bool, err error) {
	c = auth.Challenge{ChallengeKey: auth.ChallengeKey{Number: phone.Number(d.To), Role: d.Role, DeviceID: d.DeviceID}, ID: d.ChallengeID}
	if n, confirms := auth.NumberToConfirm(d.DeviceID); confirms {
		c.Number, c.Address = n, d.To
	}
	var roles auth.RoleFacts
	err = db.sql.QueryRow(ctx, `
		SELECT code, ends_at, (SELECT language FROM preferences pr WHERE pr.mobile_number = $1), `+roleFacts(d.Role)+` FROM otp_challenges
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND id = $4
			AND used_at IS NULL AND ends_at > $5 AND tries < $6
			AND NOT EXISTS (SELECT 1 FROM otp_failures f WHERE f.who = $7 AND f.blocked_until > $5)`,
		string(c.Number), string(d.Role), d.DeviceID, d.ChallengeID, database.Micros(db.Now()), maxAttempts, subject(c.ChallengeKey)).
		Scan(&c.Code, database.IntoTime(&c.EndsAt), database.IntoText(&c.Language), &roles.Registered, &roles.Linked, &roles.Disputed)
	if database.IsNoRows(err) {
		return c, false, false, nil
	}
	live = err == nil && roles.MaySignIn(d.Role)
	if live && c.ByEmail() {
		c.Address, err = db.ConfirmedAddress(ctx, c.Number, c.Role)
		live = c.Address != ""
	}
	return c, roles.Held(), live, err
}
