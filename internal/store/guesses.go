package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
)

// wrongWindow is over how long wrong tries add up, and how long too many of them
// shut a number out (contract section 2).
const wrongWindow = 24 * time.Hour

// TryOTP counts a guess, lets it be judged, and acts on the verdict, all in one
// transaction: the try counts although the answer is an error, and a right code
// is used up together with the session that it opens. The counters move before
// anything is compared, so that exactly MaxTries guesses are ever judged, on any
// number of replicas.
func (db *DB) TryOTP(ctx context.Context, t auth.Try) (auth.Tried, error) {
	var tried auth.Tried
	err := db.write(ctx, func(tx *tx) error {
		var err error
		tried, err = tx.try(ctx, t)
		if err == nil && tried.Verdict != auth.WrongCode && tried.Verdict != auth.RightCode {
			return errNothingTried // nothing was judged, so nothing is to be counted
		}
		return err
	})
	if errors.Is(err, errNothingTried) {
		err = nil
	}
	return tried, err
}

var errNothingTried = errors.New("nothing was tried")

func (tx *tx) try(ctx context.Context, t auth.Try) (auth.Tried, error) {
	g, err := tx.count(ctx, t)
	if err != nil {
		return auth.Tried{}, err
	}
	c, maxWrong := g.challenge, t.MaxWrong(g.challenge.Slot)
	switch {
	case g.blocked: // even where no code is live, for a new one would not help
		return tx.blockedUntil(ctx, c.Slot)
	case !g.live:
		return tx.whyNone(ctx, t)
	}
	// Both are asked always: who does not hold the role must not be told apart.
	if right := t.Right(c); !right || !mayHold(c.Role, g.known) {
		if g.wrong >= maxWrong {
			if err := tx.block(ctx, c.Slot, t.Now); err != nil {
				return auth.Tried{}, err
			}
		}
		return auth.Tried{Verdict: auth.WrongCode, Left: max(0, min(t.MaxTries-c.Tries, maxWrong-g.wrong))}, nil
	}
	if g.suspended && t.SignIn != nil {
		return auth.Tried{Verdict: auth.Suspended}, nil
	}
	if err := tx.giveBackTry(ctx, c, t); err != nil {
		return auth.Tried{}, err
	}
	if t.SignIn != nil {
		if err := tx.signIn(ctx, t.SignIn, g.holder); err != nil {
			return auth.Tried{}, err
		}
	}
	return auth.Tried{Verdict: auth.RightCode, EndsAt: c.EndsAt, Registered: g.known}, nil
}

// guess is one that has been counted.
type guess struct {
	live      bool // there is a challenge that had a try to give
	challenge auth.Challenge
	blocked   bool // there were too many wrong ones before
	wrong     int  // how many there were, with this one
	holder
}

// holder is what is known of whoever holds the number of a guess in its role.
type holder struct {
	known, suspended bool
	// Of a coach's sign-in alone: the account, which stays as it is until the commit,
	// and what of its profile is set.
	account string
	filled  []string
}

// count counts a guess against the first slot that holds a live challenge, and as
// a wrong one. The last slot is not waited for: where it holds none either, nothing
// of the transaction is kept.
func (tx *tx) count(ctx context.Context, t auth.Try) (guess, error) {
	var g guess
	for i, slot := range t.Slots {
		g = guess{challenge: auth.Challenge{Slot: slot}}
		if err := tx.countTry(ctx, t, &g); err != nil {
			return g, fmt.Errorf("count try: %w", err)
		}
		if i < len(t.Slots)-1 {
			if err := tx.Flush(); err != nil {
				return g, fmt.Errorf("count try: %w", err)
			}
			if !g.live {
				sent, err := tx.exhausted(ctx, t, slot)
				if err != nil {
					return g, fmt.Errorf("count try: %w", err)
				}
				if sent.IsZero() {
					continue
				} // else a device's guesses are never the shared challenge's
			}
		}
		if err := tx.countWrong(ctx, t, &g); err != nil {
			return g, fmt.Errorf("count wrong try: %w", err)
		}
		break
	}
	return g, nil
}

// countTry counts against the challenge of a slot.
func (tx *tx) countTry(ctx context.Context, t auth.Try, g *guess) error {
	slot, c := g.challenge.Slot, &g.challenge
	account := `NULL, NULL`
	if t.SignIn != nil && slot.Role == actor.Coach {
		account = `(SELECT a.id FROM accounts a WHERE a.mobile_number = $1 AND a.role = $2 AND a.suspended_at IS NULL ` + tx.ForShare("a") + `),
			` + filledBy + `(SELECT a.id FROM accounts a WHERE a.mobile_number = $1 AND a.role = $2))`
	}
	return tx.DeferRow(ctx, func(row database.Scanner) error {
		err := row.Scan(&c.ID, &c.Code, &c.Tries, intoTime(&c.EndsAt), &g.known, &g.suspended, intoText(&g.account), intoWords(&g.filled))
		if g.live = err == nil; isNone(err) {
			return nil
		}
		return err
	}, `
		UPDATE otp_challenges SET tries = tries + 1
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3
			AND used_at IS NULL AND ends_at > $4 AND tries < $5
		RETURNING id, code, tries, ends_at, `+knownRole+`,
			EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1 AND a.role = $2 AND a.suspended_at IS NOT NULL), `+account,
		string(slot.Number), string(slot.Role), slot.DeviceID, micros(t.Now), t.MaxTries)
}

// whyNone says why no slot had a try to give.
func (tx *tx) whyNone(ctx context.Context, t auth.Try) (auth.Tried, error) {
	for _, slot := range t.Slots {
		sent, err := tx.exhausted(ctx, t, slot)
		if err != nil {
			return auth.Tried{}, err
		}
		if !sent.IsZero() {
			return auth.Tried{Verdict: auth.Exhausted, SentAt: sent}, nil
		}
	}
	return auth.Tried{Verdict: auth.NoChallenge}, nil
}

// exhausted returns when the code of the slot was sent, if that has had all its
// tries; else zero.
func (tx *tx) exhausted(ctx context.Context, t auth.Try, slot auth.Slot) (sent time.Time, err error) {
	err = tx.QueryRow(ctx, `
		SELECT sent_at FROM otp_challenges
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3
			AND used_at IS NULL AND ends_at > $4 AND tries >= $5`,
		string(slot.Number), string(slot.Role), slot.DeviceID, micros(t.Now), t.MaxTries).Scan(intoTime(&sent))
	if isNone(err) {
		err = nil
	}
	return sent, err
}

// countWrong counts the guess as a wrong one, unless there were too many: the one
// that is as many back as there may be must have left the window.
func (tx *tx) countWrong(ctx context.Context, t auth.Try, g *guess) error {
	slot, since := g.challenge.Slot, t.Now.Add(-wrongWindow)
	most := t.MaxWrong(slot)
	var times []time.Time
	err := tx.QueryRow(ctx, `
		INSERT INTO otp_failures (who, times, blocked_until, ends_at) VALUES ($1, $2, 0, $3)
		ON CONFLICT (who) DO UPDATE SET times = substr(excluded.times || otp_failures.times, 1, $4), ends_at = excluded.ends_at
		WHERE otp_failures.blocked_until <= $5 AND substr(otp_failures.times, $6, $7) <= $8
		RETURNING times`,
		who(slot), moment(t.Now), micros(t.Now.Add(wrongWindow)), most*momentDigits,
		micros(t.Now), (most-1)*momentDigits+1, momentDigits, moment(since)).Scan(intoMoments(&times))
	if g.blocked = isNone(err); g.blocked {
		return nil
	}
	for _, at := range times {
		if at.After(since) {
			g.wrong++
		}
	}
	return err
}

// block starts the time of none, after the last wrong guess that was allowed.
func (tx *tx) block(ctx context.Context, s auth.Slot, now time.Time) error {
	return tx.ExecOne(ctx, `UPDATE otp_failures SET blocked_until = $2, ends_at = $2 WHERE who = $1`, who(s), micros(now.Add(wrongWindow)))
}

func (tx *tx) blockedUntil(ctx context.Context, s auth.Slot) (auth.Tried, error) {
	tried := auth.Tried{Verdict: auth.Blocked}
	err := tx.QueryRow(ctx, `SELECT ends_at FROM otp_failures WHERE who = $1`, who(s)).Scan(intoTime(&tried.EndsAt))
	return tried, err
}

// giveBackTry undoes the counts of a right guess and, unless it only verifies,
// uses the challenge up.
func (tx *tx) giveBackTry(ctx context.Context, c auth.Challenge, t auth.Try) error {
	var usedAt time.Time
	if t.SignIn != nil || t.Use {
		usedAt = t.Now
	}
	// Both rows have been locked since they were written, so nothing can be otherwise.
	err := tx.Defer(ctx, `
		UPDATE otp_challenges SET tries = tries - 1, used_at = $5
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND id = $4 AND used_at IS NULL`,
		string(c.Number), string(c.Role), c.DeviceID, c.ID, micros(usedAt))
	if err != nil {
		return err
	}
	return tx.Defer(ctx, `UPDATE otp_failures SET times = substr(times, $2) WHERE who = $1`, who(c.Slot), momentDigits+1)
}

// who names what wrong tries count against.
func who(s auth.Slot) string {
	if s.DeviceID != "" {
		return "device/" + s.DeviceID
	}
	return "number/" + string(s.Number)
}
