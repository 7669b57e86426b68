package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/phone"
)

// Device returns the id of the live device with this token hash, if it is bound
// to number; else "".
func (db *DB) Device(ctx context.Context, tokenHash []byte, number phone.Number, now time.Time) (string, error) {
	var id string
	err := db.sql.QueryRow(ctx, `
		SELECT id FROM devices WHERE token_hash = $1 AND mobile_number = $2 AND ends_at > $3`,
		tokenHash, string(number), micros(now)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// OpenChallenge counts the limits, puts the fresh challenge into its slot, and
// queues its SMS. A live challenge stays and is sent again: same code, same
// tries, same end. One upsert decides, so that rivals cannot both send.
func (db *DB) OpenChallenge(ctx context.Context, o auth.Opening) (auth.Challenge, error) {
	opened := o.Fresh
	err := db.write(ctx, func(tx *tx) error {
		c, soon := o.Fresh, false
		err := tx.DeferRow(ctx, func(row database.Scanner) error {
			err := row.Scan(&c.ID, &c.Code, intoTime(&c.EndsAt))
			if soon = errors.Is(err, sql.ErrNoRows); soon {
				return nil
			}
			return err
		}, `
			INSERT INTO otp_challenges (mobile_number, role, device_id, id, code, tries, sent_at, ends_at, used_at)
			VALUES ($1, $2, $3, $4, $5, 0, $6, $7, NULL)
			ON CONFLICT (mobile_number, role, device_id) DO UPDATE SET
				id      = CASE WHEN `+challengeLives+` THEN otp_challenges.id      ELSE excluded.id END,
				code    = CASE WHEN `+challengeLives+` THEN otp_challenges.code    ELSE excluded.code END,
				tries   = CASE WHEN `+challengeLives+` THEN otp_challenges.tries   ELSE 0 END,
				ends_at = CASE WHEN `+challengeLives+` THEN otp_challenges.ends_at ELSE excluded.ends_at END,
				used_at = NULL, sent_at = excluded.sent_at
			WHERE otp_challenges.sent_at <= $8
			RETURNING id, code, ends_at`,
			string(c.Number), string(c.Role), c.DeviceID, c.ID, c.Code, micros(c.SentAt), micros(c.EndsAt),
			micros(o.SentBefore), o.MaxTries)
		if err != nil {
			return fmt.Errorf("open challenge: %w", err)
		}
		limited, err := tx.take(ctx, o.Fresh.SentAt, o.Limits)
		if err == nil {
			err = tx.Flush() // there may be no limits
		}
		if err != nil {
			return err
		}
		if soon {
			return tx.tooSoon(ctx, c.Slot)
		}
		// After the wait between sends, whose answer is the more helpful one.
		if limited != nil {
			return *limited
		}
		opened = c
		if o.Quiet {
			return nil
		}
		return tx.queueOTP(ctx, c)
	})
	return opened, err
}

// challengeLives says of the row in the way that its code still works.
const challengeLives = `otp_challenges.used_at IS NULL AND otp_challenges.ends_at > $6 AND otp_challenges.tries < $9`

func (tx *tx) tooSoon(ctx context.Context, s auth.Slot) error {
	var soon auth.TooSoon
	err := tx.QueryRow(ctx, `
		SELECT sent_at FROM otp_challenges WHERE mobile_number = $1 AND role = $2 AND device_id = $3`,
		string(s.Number), string(s.Role), s.DeviceID).Scan(intoTime(&soon.SentAt))
	if err != nil {
		return err
	}
	return soon
}
