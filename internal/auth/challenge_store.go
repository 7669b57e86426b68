package auth

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// Device returns the ID of the live device with this token hash, if it is bound to
// number, or "".
func (db Store) Device(ctx context.Context, tokenHash []byte, number phone.Number, now time.Time) (string, error) {
	var id string
	err := db.DB.QueryRow(ctx, `
		SELECT id FROM devices WHERE token_hash = $1 AND mobile_number = $2 AND ends_at > $3`,
		tokenHash, string(number), database.Micros(now)).Scan(&id)
	if database.IsNoRows(err) {
		return "", nil
	}
	return id, err
}

// OpenChallenge counts the limits, saves the challenge and queues its SMS. A live
// challenge of the same key stays and is sent again, with the same code, attempts and
// end. One upsert decides, so that concurrent requests cannot both send. While too many wrong
// codes block the number or device, the request queues nothing and counts only for its network. Errors:
// LimitExceeded, ResendTooSoon, FraudSuspected.
func (db Store) OpenChallenge(ctx context.Context, r ChallengeRequest) (opened OpenedChallenge, err error) {
	defer func() { db.requested(err) }()
	budget := &budgetReservation{db: db}
	err = db.DB.Write(ctx, func(tx *store.Tx) error {
		c := r.Challenge
		sentAt := database.Micros(c.SentAt)
		if r.Incoming {
			sentAt = 0 // no code has left
		}
		var roles RoleFacts
		var blockedUntil time.Time
		err := tx.QueryRow(ctx, `
			INSERT INTO otp_challenges (mobile_number, role, device_id, id, code, attempts, sent_at, ends_at, used_at, asked_at, asked_with)
			VALUES ($1, $2, $3, $4, $5, 0, $12, $7, NULL, $6, $13)
			ON CONFLICT (mobile_number, role, device_id) DO UPDATE SET
				id      = CASE WHEN `+challengeLives+` THEN otp_challenges.id      ELSE excluded.id END,
				code    = CASE WHEN `+challengeLives+` THEN otp_challenges.code    ELSE excluded.code END,
				attempts = CASE WHEN `+challengeLives+` THEN otp_challenges.attempts ELSE 0 END,
				ends_at = CASE WHEN `+challengeLives+` THEN otp_challenges.ends_at ELSE excluded.ends_at END,
				used_at = NULL, asked_at = excluded.asked_at, asked_with = excluded.asked_with,
				sent_at = CASE WHEN excluded.sent_at = 0 AND otp_challenges.used_at IS NULL AND otp_challenges.sent_at <= $10 THEN otp_challenges.sent_at ELSE excluded.sent_at END
			WHERE $12 = 0 OR otp_challenges.sent_at <= $8 OR otp_challenges.sent_at > $10 OR otp_challenges.used_at IS NOT NULL
			RETURNING id, code, ends_at, `+blockedUntilOf+`, `+roleFacts(c.Role),
			string(c.Number), string(c.Role), c.DeviceID, c.ID, c.Code, database.Micros(c.SentAt), database.Micros(c.EndsAt),
			database.Micros(r.LastSentBefore), r.MaxAttempts, database.Micros(c.SentAt.Add(MaxClockSkew)), subject(c.ChallengeKey), sentAt, c.AskedWith).
			Scan(&c.ID, &c.Code, database.IntoTime(&c.EndsAt), database.IntoTime(&blockedUntil), &roles.Registered, &roles.Linked, &roles.Kept)
		if database.IsNoRows(err) { // before the limits: it is the more helpful error
			return db.resendTooSoon(ctx, tx, r.Challenge)
		}
		if err != nil {
			return fmt.Errorf("open challenge: %w", err)
		}
		blocked := blockedUntil.After(c.SentAt)
		budget.blocked, roles.Blocked = blocked, blocked
		if !r.Incoming {
			if err := db.countSend(ctx, tx, r, roles, budget); err != nil {
				return err
			}
		}
		opened = OpenedChallenge{EndsAt: c.EndsAt}
		if blocked {
			opened.BlockedUntil = blockedUntil
		}
		if r.Channel == "" || blocked {
			return nil
		}
		if roles.MaySignIn(c.Role) {
			if err := db.recordSend(ctx, tx, c, r.Destination); err != nil {
				return err
			}
		}
		return db.DB.Outbox.QueueOTP(ctx, tx.Tx, outbox.OTPDelivery{
			Channel: message.Channel(r.Channel), To: cmp.Or(r.Address, string(c.Number)), Role: c.Role,
			ChallengeID: c.ID, DeviceID: c.DeviceID, EndsAt: c.EndsAt, Reserved: budget.reserved,
		})
	})
	return opened, err
}

// countSend counts a send against its limits. Errors: FraudSuspected, and the
// LimitExceeded of a limit that refuses.
func (db Store) countSend(ctx context.Context, tx *store.Tx, r ChallengeRequest, roles RoleFacts, budget *budgetReservation) error {
	use := new(codeUse)
	if r.ChecksFraud(roles) {
		var err error
		use, err = db.readCodeUse(ctx, tx, r)
		if err != nil {
			return err
		}
	}
	overBudget, err := budget.reserve(ctx, tx, r, roles)
	if err != nil {
		return err
	}
	var limits []Limit
	if r.Limits != nil {
		limits = r.Limits(roles)
	}
	exceeded, err := CountOccurrence(ctx, tx, r.Challenge.SentAt, limits)
	if err == nil {
		err = tx.Flush() // nothing is sent yet if there are no limits
	}
	switch {
	case err != nil:
		return err
	case use.fraud(): // before the limits: to wait for them does not help
		return FraudSuspected{}
	case LongerWait(exceeded, overBudget) != nil:
		return *LongerWait(exceeded, overBudget)
	}
	return nil
}

// challengeLives is true if the code of the existing challenge still works, and was not sent by a
// clock that was ahead, which would make it valid for too long.
const challengeLives = `otp_challenges.used_at IS NULL AND otp_challenges.ends_at > $6 AND otp_challenges.attempts < $9 AND otp_challenges.sent_at <= $10`

// blockedUntilOf selects until when too many wrong codes block the number or device $11.
const blockedUntilOf = `(SELECT f.blocked_until FROM otp_failures f WHERE f.who = $11)`

// resendTooSoon returns ResendTooSoon.
func (db Store) resendTooSoon(ctx context.Context, tx *store.Tx, c Challenge) error {
	var soon ResendTooSoon
	err := tx.QueryRow(ctx, `
		SELECT sent_at, (SELECT f.blocked_until FROM otp_failures f WHERE f.who = $4)
		FROM otp_challenges WHERE mobile_number = $1 AND role = $2 AND device_id = $3`,
		string(c.Number), string(c.Role), c.DeviceID, subject(c.ChallengeKey)).Scan(database.IntoTime(&soon.SentAt), database.IntoTime(&soon.BlockedUntil))
	if err != nil {
		return fmt.Errorf("read last send: %w", err)
	}
	if !soon.BlockedUntil.After(c.SentAt) {
		soon.BlockedUntil = time.Time{}
	}
	return soon
}

// LiveChallenge returns the challenge of an OTP delivery, and whether the number holds the
// role. live is false if the code no longer works, if wrong codes block the number or
// device, if the number may not sign in, or if a code by mail has no confirmed address. It then gets
// no OTP.
func (db Store) LiveChallenge(ctx context.Context, d message.Delivery, maxAttempts int) (c Challenge, holdsRole, live bool, err error) {
	c = Challenge{ChallengeKey: ChallengeKey{Number: phone.Number(d.To), Role: d.Role, DeviceID: d.DeviceID}, ID: d.ChallengeID}
	if n, confirms := NumberToConfirm(d.DeviceID); confirms {
		c.Number, c.Address = n, d.To
	}
	var roles RoleFacts
	err = db.DB.QueryRow(ctx, `
		SELECT code, ends_at, (SELECT language FROM preferences pr WHERE pr.mobile_number = $1), `+roleFacts(d.Role)+` FROM otp_challenges
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND id = $4
			AND used_at IS NULL AND ends_at > $5 AND attempts < $6
			AND NOT EXISTS (SELECT 1 FROM otp_failures f WHERE f.who = $7 AND f.blocked_until > $5)`,
		string(c.Number), string(d.Role), d.DeviceID, d.ChallengeID, database.Micros(db.DB.Now()), maxAttempts, subject(c.ChallengeKey)).
		Scan(&c.Code, database.IntoTime(&c.EndsAt), database.IntoText(&c.Language), &roles.Registered, &roles.Linked, &roles.Kept)
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
