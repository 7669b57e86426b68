package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/notify"
)

// queueOTP queues the SMS of a challenge. The row names the challenge and does not
// contain the code.
func (tx *tx) queueOTP(ctx context.Context, c auth.Challenge) error {
	err := tx.Defer(ctx, `
		INSERT INTO deliveries (id, kind, channel, state, recipient, role, challenge_id, device_id,
			attempts, due_at, gives_up_at, created_at, updated_at)
		VALUES ($1, 'otp', 'sms', 'queued', $2, $3, $4, $5, 0, $6, $7, $6, $6)`,
		tx.db.NewID(), string(c.Number), string(c.Role), c.ID, c.DeviceID, micros(tx.Now), micros(c.EndsAt))
	if err != nil {
		return fmt.Errorf("queue OTP: %w", err)
	}
	tx.wakeOutbox(notify.OTP)
	return nil
}

// DeliveriesDue says whether anything waits to be sent.
func (db *DB) DeliveriesDue(ctx context.Context, now time.Time) (bool, error) {
	var due bool
	err := db.sql.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND kind = 'otp' AND due_at <= $1)
			OR EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND kind = 'request' AND due_at <= $1)
			OR EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND kind = 'reminder' AND due_at <= $1)
			OR EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND kind = 'notice' AND due_at <= $1)`,
		micros(now)).Scan(&due)
	return due, err
}

// ClaimDeliveries takes up to n deliveries of a kind that are due, oldest first,
// for the holder of lease until then. Whoever does not finish by then loses them
// to the next claim. The cast keeps SQLite from planning anew for each kind, lest
// an index that holds one kind alone might serve.
func (db *DB) ClaimDeliveries(ctx context.Context, kind notify.Kind, lease string, until time.Time, n int) ([]notify.Delivery, error) {
	var claimed []notify.Delivery
	err := db.sql.ExecRows(ctx, func(rs *database.Rows, err error) error {
		claimed, err = database.Collect(rs, err, func(s database.Scanner) (notify.Delivery, error) {
			var d notify.Delivery
			var reason string
			err := s.Scan(&d.ID, &d.Kind, &d.To, &d.Role, &d.Lease, &d.Attempts, intoTime(&d.GivesUpAt), intoText(&reason),
				intoText(&d.CoachID), intoText(&d.RequestID), intoText(&d.ChallengeID), intoText(&d.DeviceID))
			d.Held = reason == reasonHeld
			return d, err
		})
		return err
	}, `
		UPDATE deliveries SET lease = $3, due_at = $4, attempts = attempts + 1, updated_at = $2
		WHERE id IN (
			SELECT id FROM deliveries WHERE state = 'queued' AND kind = CAST($1 AS TEXT) AND due_at <= $2
			ORDER BY due_at, id LIMIT $5 `+db.sql.SkipLocked()+`)
		RETURNING id, kind, recipient, role, lease, attempts, gives_up_at, reason, coach_id, request_id, challenge_id, device_id`,
		string(kind), micros(db.Now()), lease, micros(until), n)
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	return claimed, nil
}

// LiveChallenge returns the challenge that an OTP delivery carries; false where
// its code no longer works or could not be used: nobody without the role gets an SMS.
func (db *DB) LiveChallenge(ctx context.Context, d notify.Delivery, maxTries int) (auth.Challenge, bool, error) {
	c := auth.Challenge{Slot: auth.Slot{Number: d.To, Role: d.Role, DeviceID: d.DeviceID}, ID: d.ChallengeID}
	var known bool
	err := db.sql.QueryRow(ctx, `
		SELECT code, ends_at, `+knownRole+` FROM otp_challenges
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND id = $4
			AND used_at IS NULL AND ends_at > $5 AND tries < $6`,
		string(d.To), string(d.Role), d.DeviceID, d.ChallengeID, micros(db.Now()), maxTries).Scan(&c.Code, intoTime(&c.EndsAt), &known)
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, nil
	}
	return c, mayHold(d.Role, known), err
}

// AskedBy returns what the message of a request says; false once it is closed.
func (db *DB) AskedBy(ctx context.Context, requestID string) (notify.Asked, bool, error) {
	var a notify.Asked
	err := db.sql.QueryRow(ctx, `
		SELECT r.approver_type, c.name, p.student_name
		FROM requests r JOIN players p ON p.id = r.player_id LEFT JOIN coaches c ON c.id = r.coach_id
		WHERE r.id = $1 AND r.state = 'pending'`, requestID).Scan(&a.Party, intoText(&a.CoachName), &a.StudentName)
	if errors.Is(err, sql.ErrNoRows) {
		return a, false, nil
	}
	return a, err == nil, err
}

// AdmitHeld counts a held delivery against the caps. It is true where it may go
// now, and then its link lives its whole time from now; else it waits on.
func (db *DB) AdmitHeld(ctx context.Context, d notify.Delivery) (bool, error) {
	var admitted bool
	err := db.write(ctx, func(tx *tx) error {
		var quota messageQuota
		if d.CoachID != "" {
			var err error
			if quota, err = tx.messageQuota(ctx, d.CoachID); err != nil {
				return err
			}
		}
		limited, err := tx.takeMessage(ctx, quota, d.To)
		if err != nil {
			return err
		}
		if admitted = limited == nil; admitted {
			if d.RequestID != "" {
				if err := tx.renewLink(ctx, d); err != nil {
					return err
				}
			}
			return tx.execLeased(ctx, `UPDATE deliveries SET reason = NULL WHERE id = $1 AND lease = $2 AND state = 'queued'`, d.ID, d.Lease)
		}
		return tx.execLeased(ctx, `
			UPDATE deliveries SET due_at = $3, gives_up_at = $4, attempts = attempts - 1, lease = NULL
			WHERE id = $1 AND lease = $2 AND state = 'queued'`,
			d.ID, d.Lease, micros(tx.Now.Add(limited.Wait)), micros(tx.Now.Add(limited.Wait).Add(messageLifetime)))
	})
	return admitted && err == nil, ifLost(err)
}

// renewLink starts the time of a delivery's link anew. One that was held for very
// long may have been swept.
func (tx *tx) renewLink(ctx context.Context, d notify.Delivery) error {
	hash, err := tx.db.linkHash(d.ID)
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		INSERT INTO request_links (hash, request_id, ends_at) VALUES ($1, $2, $3)
		ON CONFLICT (hash) DO UPDATE SET ends_at = excluded.ends_at`, hash, d.RequestID, micros(tx.Now.Add(tx.db.Settings.LinkValidity)))
	if err != nil {
		return fmt.Errorf("renew a link: %w", err)
	}
	return nil
}

// DeliverySent says that the gateway took the delivery.
func (db *DB) DeliverySent(ctx context.Context, d notify.Delivery) error {
	_, err := db.sql.Exec(ctx, `
		UPDATE deliveries SET state = 'sent', reason = NULL, lease = NULL, updated_at = $3
		WHERE id = $1 AND lease = $2 AND state = 'queued'`, d.ID, d.Lease, micros(db.Now()))
	return err
}

// DeliverySpared says that the delivery is done although nothing left, for it
// goes to a test number.
func (db *DB) DeliverySpared(ctx context.Context, d notify.Delivery) error {
	_, err := db.sql.Exec(ctx, `
		UPDATE deliveries SET state = 'sent', reason = $3, lease = NULL, updated_at = $4
		WHERE id = $1 AND lease = $2 AND state = 'queued'`, d.ID, d.Lease, approval.ReasonTestNumber, micros(db.Now()))
	return err
}

// DeliveryLater puts the delivery back until due.
func (db *DB) DeliveryLater(ctx context.Context, d notify.Delivery, due time.Time, reason string) error {
	_, err := db.sql.Exec(ctx, `
		UPDATE deliveries SET due_at = $3, reason = $4, lease = NULL, updated_at = $5
		WHERE id = $1 AND lease = $2 AND state = 'queued'`, d.ID, d.Lease, micros(due), reason, micros(db.Now()))
	return err
}

// DeliveryDropped says that there is nothing to send any more.
func (db *DB) DeliveryDropped(ctx context.Context, d notify.Delivery, reason string) error {
	_, err := db.sql.Exec(ctx, `
		UPDATE deliveries SET state = 'failed', reason = $3, lease = NULL, updated_at = $4
		WHERE id = $1 AND lease = $2 AND state = 'queued'`, d.ID, d.Lease, reason, micros(db.Now()))
	return err
}

// DeliveryFailed gives the delivery up. Where it was of the newest sending of an
// open request, the request says so and the coach is told, in the same transaction.
func (db *DB) DeliveryFailed(ctx context.Context, d notify.Delivery, reason string) error {
	err := db.write(ctx, func(tx *tx) error {
		err := tx.execLeased(ctx, `
			UPDATE deliveries SET state = 'failed', reason = $3, lease = NULL, updated_at = $4
			WHERE id = $1 AND lease = $2 AND state = 'queued'`, d.ID, d.Lease, reason, micros(tx.Now))
		if err != nil || d.Kind != notify.Request {
			return err
		}
		e := event.Event{Type: event.DeliveryFailed, RequestID: d.RequestID}
		err = tx.QueryRow(ctx, `
			UPDATE requests SET delivery_failed = TRUE
			WHERE id = $1 AND state = 'pending' AND delivery_failed = FALSE
				AND last_sent_at = (SELECT created_at FROM deliveries WHERE id = $2)
			RETURNING player_id, coach_id, approver_type`, d.RequestID, d.ID).Scan(&e.PlayerID, &e.CoachID, &e.Party)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT student_name, guardian_name FROM players WHERE id = $1`, e.PlayerID).
			Scan(&e.StudentName, intoText(&e.GuardianName))
		if err != nil {
			return err
		}
		return tx.tell(ctx, []event.Event{e}, func(actor.Role) string { return e.CoachID })
	})
	return ifLost(err)
}

// errLeaseLost says that a slow worker's delivery has become somebody else's.
var errLeaseLost = errors.New("the delivery's lease was lost")

// execLeased is exec for a statement that is guarded by a lease.
func (tx *tx) execLeased(ctx context.Context, query string, args ...any) error {
	res, err := tx.Exec(ctx, query, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return errLeaseLost
}

// ifLost makes a lost lease no error: whoever holds it now will finish.
func ifLost(err error) error {
	if errors.Is(err, errLeaseLost) {
		return nil
	}
	return err
}
