package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
)

// VerifyOTP counts an attempt, evaluates it and saves the result in one transaction.
// The counters move before the code is compared, so that exactly MaxAttempts attempts
// are evaluated, on any number of replicas. A wrong code commits although the caller
// gets an error; a correct code is consumed together with the session that it opens.
func (db Store) VerifyOTP(ctx context.Context, a Attempt) (VerificationResult, error) {
	var result VerificationResult
	err := db.DB.Write(ctx, func(tx *store.Tx) (err error) {
		result, err = db.verifyOTP(ctx, tx, a)
		if err == nil && result.Outcome == CorrectCode && a.SignIn != nil {
			return tx.Complete(ctx, idempotency.Work{ID: a.SignIn.Session.ID, New: true})
		}
		return db.completeWrongOTP(ctx, tx, "otp", result, err)
	})
	if err := ignoreNotEvaluated(err); err != nil {
		return result, err
	}
	role := slog.String("role", string(a.Keys[0].Role))
	if result.Outcome == CorrectCode && a.SignIn != nil {
		db.sessions("opened", 1)
		opened := a.SignIn.Session
		db.event(ctx, "sign_in", account(opened.AccountID), session(opened.ID), role, slog.Bool("new_account", !result.Registered))
	}
	db.attempt(ctx, result, role)
	return result, nil
}

// errNotEvaluated rolls back the counts of an attempt that was not evaluated.
var errNotEvaluated = errors.New("the attempt was not evaluated")

func rollbackUnlessEvaluated(r VerificationResult, err error) error {
	if err == nil && !r.Outcome.Evaluated() {
		return errNotEvaluated
	}
	return err
}

// completeWrongOTP marks the key as committed if the attempt entered a wrong code. name
// says which of the codes of a request it was.
func (db Store) completeWrongOTP(ctx context.Context, tx *store.Tx, name string, r VerificationResult, err error) error {
	if err == nil && r.Outcome == WrongCode {
		return tx.Complete(ctx, idempotency.Work{WrongOTP: name, Number: r.AttemptsLeft})
	}
	return rollbackUnlessEvaluated(r, err)
}

func ignoreNotEvaluated(err error) error {
	if errors.Is(err, errNotEvaluated) {
		return nil
	}
	return err
}

// verifyOTP counts and evaluates an attempt. The caller must roll back unless the
// outcome is Evaluated.
func (db Store) verifyOTP(ctx context.Context, tx *store.Tx, a Attempt) (VerificationResult, error) {
	c, err := db.countAttempt(ctx, tx, a)
	if err != nil {
		return VerificationResult{}, err
	}
	result := a.Evaluate(c.CountedAttempt)
	switch {
	case result.Outcome == WrongCode:
		err = db.saveFailure(ctx, tx, a, c, result)
	case result.Outcome == CorrectCode:
		if c.Key.ByEmail() {
			confirmed, err := db.useAddress(ctx, tx, c.Key)
			if err != nil || !confirmed {
				return VerificationResult{Outcome: NoChallenge}, err
			}
		}
		err = db.decrementAttempt(ctx, tx, c, a)
		if err == nil && a.SignIn != nil {
			err = db.signIn(ctx, tx, a.SignIn, c)
		}
	}
	return result, err
}

// countedAttempt is an CountedAttempt with the facts for a coach's sign-in: the
// account, whose row is locked until the commit, and the fields of its profile.
type countedAttempt struct {
	CountedAttempt
	accountID string
	filled    []string
}

// countAttempt counts an attempt against the first key that has a live challenge, and
// locks its failures. For the last key it sends both statements in one round trip.
func (db Store) countAttempt(ctx context.Context, tx *store.Tx, a Attempt) (*countedAttempt, error) {
	for i, key := range a.Keys {
		last := i == len(a.Keys)-1
		c := &countedAttempt{CountedAttempt: CountedAttempt{Key: key}}
		if err := db.incrementAttempts(ctx, tx, a, c); err != nil {
			return nil, fmt.Errorf("count OTP attempt: %w", err)
		}
		if !last {
			if err := tx.Flush(); err != nil {
				return nil, fmt.Errorf("count OTP attempt: %w", err)
			}
			if c.Challenge == nil {
				var err error
				c.ExhaustedSentAt, err = db.exhaustedSentAt(ctx, tx, a, key)
				if err != nil {
					return nil, err
				}
			}
			if !c.FoundChallenge() {
				continue
			}
		}
		if err := db.lockFailures(ctx, tx, a, c); err != nil {
			return nil, fmt.Errorf("lock OTP failures: %w", err)
		}
		if last && c.Challenge == nil {
			var err error
			c.ExhaustedSentAt, err = db.exhaustedSentAt(ctx, tx, a, key)
			if err != nil {
				return nil, err
			}
		}
		return c, nil
	}
	return nil, errors.New("count OTP attempt: no challenge key")
}

// incrementAttempts counts an attempt against the live challenge of c.Key.
func (db Store) incrementAttempts(ctx context.Context, tx *store.Tx, a Attempt, c *countedAttempt) error {
	key, challenge := c.Key, Challenge{ChallengeKey: c.Key}
	account := `NULL, NULL`
	if a.SignIn != nil && key.Role == actor.Coach {
		account = `(SELECT a.id FROM accounts a WHERE a.mobile_number = $1 AND a.role = $2 AND a.suspended_at IS NULL ` + tx.ForShare("a") + `),
			` + store.FilledBy + `(SELECT a.id FROM accounts a WHERE a.mobile_number = $1 AND a.role = $2))`
	}
	return tx.DeferRow(ctx, func(row database.Scanner) error {
		err := row.Scan(&challenge.ID, &challenge.Code, &challenge.Attempts, database.IntoTime(&challenge.EndsAt),
			&c.Roles.Registered, &c.Roles.Linked, &c.Roles.Kept, &c.Suspended, database.IntoText(&c.accountID), database.IntoWords(&c.filled))
		if database.IsNoRows(err) {
			return nil
		}
		if err == nil {
			c.Challenge = &challenge
		}
		return err
	}, `
		UPDATE otp_challenges SET attempts = attempts + 1
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3
			AND used_at IS NULL AND ends_at > $4 AND attempts < $5
		RETURNING id, code, attempts, ends_at, `+roleFacts(key.Role)+`,
			EXISTS (SELECT 1 FROM accounts a WHERE a.mobile_number = $1 AND a.role = $2 AND a.suspended_at IS NOT NULL), `+account,
		string(key.Number), string(key.Role), key.DeviceID, database.Micros(a.Now), a.MaxAttempts)
}

// exhaustedSentAt returns when the code of a key's challenge was sent, if the
// challenge has no attempts left; else zero.
func (db Store) exhaustedSentAt(ctx context.Context, tx *store.Tx, a Attempt, key ChallengeKey) (sent time.Time, err error) {
	err = tx.QueryRow(ctx, `
		SELECT sent_at FROM otp_challenges
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3
			AND used_at IS NULL AND ends_at > $4 AND attempts >= $5`,
		string(key.Number), string(key.Role), key.DeviceID, database.Micros(a.Now), a.MaxAttempts).Scan(database.IntoTime(&sent))
	if database.IsNoRows(err) {
		return time.Time{}, nil
	}
	return sent, fault.Wrap(err, "read exhausted challenge")
}

// lockFailures locks the failures of the number or device until the commit and reads them, so that
// concurrent attempts are evaluated one after the other. Only a wrong code adds a failure.
func (db Store) lockFailures(ctx context.Context, tx *store.Tx, a Attempt, c *countedAttempt) error {
	err := tx.DeferRow(ctx, func(row database.Scanner) error { return row.Scan(database.IntoTime(&c.Failures.BlockedUntil)) }, `
		INSERT INTO otp_failures (who, blocked_until, ends_at) VALUES ($1, 0, $2)
		ON CONFLICT (who) DO UPDATE SET ends_at = excluded.ends_at
		RETURNING blocked_until`, subject(c.Key), failureEnds(a))
	if err != nil {
		return err
	}
	// One more than may fail: the attempt is then one too many.
	rs, err := tx.Query(ctx, `SELECT at FROM otp_failure_times WHERE who = $1 ORDER BY number DESC LIMIT $2`, subject(c.Key), a.MaxFailures(c.Key))
	times, err := database.Collect(rs, err, func(s database.Scanner) (at time.Time, err error) { return at, s.Scan(database.IntoTime(&at)) })
	c.Failures.Times = append([]time.Time{a.Now}, times...)
	return err
}

// saveFailure saves a wrong code and deletes the failures that have left the window.
func (db Store) saveFailure(ctx context.Context, tx *store.Tx, a Attempt, c *countedAttempt, r VerificationResult) error {
	who := subject(c.Key)
	err := tx.Defer(ctx, `DELETE FROM otp_failure_times WHERE who = $1 AND at <= $2`, who, database.Micros(a.Now.Add(-FailureWindow)))
	if err == nil {
		err = tx.Defer(ctx, `
			INSERT INTO otp_failure_times (who, number, at)
			SELECT $1, COALESCE(max(number), 0) + 1, CAST($2 AS BIGINT) FROM otp_failure_times WHERE who = $1`, who, database.Micros(a.Now))
	}
	if err != nil || r.BlockUntil.IsZero() {
		return err
	}
	return tx.Defer(ctx, `UPDATE otp_failures SET blocked_until = $2, ends_at = $2 WHERE who = $1`, who, database.Micros(r.BlockUntil))
}

// failureEnds is when Sweep may delete the failures of the number or device of a.
func failureEnds(a Attempt) int64 { return deletableAt(a.Now.Add(FailureWindow)) }

// RepeatLogin checks a request that repeats the Idempotency-Key of a login. It counts a
// request that is not the same as a wrong code: against the newest challenge of the key,
// even if its code was used, and against the number or device.
func (db Store) RepeatLogin(ctx context.Context, a Attempt, same bool) (VerificationResult, error) {
	var result VerificationResult
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		c, err := db.countRepeat(ctx, tx, a)
		if err != nil {
			return err
		}
		result = a.EvaluateRepeat(c.CountedAttempt)
		if same {
			return errNotEvaluated
		}
		if result.Outcome == WrongCode {
			err = db.saveFailure(ctx, tx, a, c, result)
		}
		return rollbackUnlessEvaluated(result, err)
	})
	return result, ignoreNotEvaluated(err)
}

// countRepeat counts an attempt against the newest challenge of the first key, and locks its
// failures.
func (db Store) countRepeat(ctx context.Context, tx *store.Tx, a Attempt) (*countedAttempt, error) {
	key := a.Keys[0]
	c := &countedAttempt{CountedAttempt: CountedAttempt{Key: key}}
	err := tx.Defer(ctx, `
		UPDATE otp_challenges SET attempts = attempts + 1
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND attempts <= $4`,
		string(key.Number), string(key.Role), key.DeviceID, a.MaxAttempts)
	if err != nil {
		return nil, err
	}
	if err := db.lockFailures(ctx, tx, a, c); err != nil {
		return nil, fmt.Errorf("lock OTP failures: %w", err)
	}
	err = tx.QueryRow(ctx, `
		SELECT sent_at FROM otp_challenges
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND attempts > $4`,
		string(key.Number), string(key.Role), key.DeviceID, a.MaxAttempts).Scan(database.IntoTime(&c.ExhaustedSentAt))
	if err != nil && !database.IsNoRows(err) {
		return nil, fmt.Errorf("read exhausted challenge: %w", err)
	}
	return c, nil
}

// decrementAttempt takes back the count of a correct code. It marks the challenge as used
// if the attempt consumes it. The row has been locked since it was counted.
func (db Store) decrementAttempt(ctx context.Context, tx *store.Tx, counted *countedAttempt, a Attempt) error {
	c := counted.Challenge
	var usedAt time.Time
	if a.Consumes() {
		usedAt = a.Now
	}
	err := tx.Defer(ctx, `
		UPDATE otp_challenges SET attempts = attempts - 1, used_at = $5
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND id = $4 AND used_at IS NULL`,
		string(c.Number), string(c.Role), c.DeviceID, c.ID, database.Micros(usedAt))
	if err != nil {
		return err
	}
	if a.Consumes() {
		if err := tx.Defer(ctx, `UPDATE otp_sends SET used = TRUE WHERE challenge_id = $1`, c.ID); err != nil {
			return err
		}
	}
	return nil
}

// subject returns the subject of failures: the known device or the number.
func subject(key ChallengeKey) string {
	if key.DeviceID != "" {
		return "device/" + key.DeviceID
	}
	return "number/" + string(key.Number)
}
