package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// DeliverySent completes the deliveries of messages that the provider accepted.
func (db *DB) DeliverySent(ctx context.Context, accepted []message.Delivery) error {
	return db.setLeased(ctx, accepted, `state = 'sent', reason = NULL, left_at = coalesce(left_at, $1)`)
}

// DeliverySuppressed completes deliveries to a test number, to which nothing is sent.
func (db *DB) DeliverySuppressed(ctx context.Context, deliveries []message.Delivery) error {
	return db.setLeased(ctx, deliveries, `state = 'sent', reason = $2`, message.ReasonTestNumber)
}

// RetryDelivery releases the deliveries of a message for another attempt at due.
func (db *DB) RetryDelivery(ctx context.Context, deliveries []message.Delivery, due time.Time, reason string) error {
	return db.setLeased(ctx, deliveries, `due_at = $2, reason = $3`, database.Micros(due), reason)
}

// AwaitStatus makes the deliveries of a message that the provider accepted wait until its
// status must be known.
func (db *DB) AwaitStatus(ctx context.Context, deliveries []message.Delivery, until time.Time) error {
	return db.setLeased(ctx, deliveries, `due_at = $2, reason = $3, left_at = coalesce(left_at, $1)`, database.Micros(until), message.ReasonAwaitingStatus)
}

// FallBack queues the deliveries of a message on another channel, with new attempts there.
func (db *DB) FallBack(ctx context.Context, deliveries []message.Delivery, to message.Channel) error {
	return db.setLeased(ctx, deliveries, `channel = $2, due_at = $1, reason = $3, attempts = 0`, string(to), message.ReasonRetrying)
}

// PostponeDelivery makes the deliveries of a message wait until a time, for example the end
// of quiet hours. The attempt does not count, and its lifetime begins when it leaves.
func (db *DB) PostponeDelivery(ctx context.Context, deliveries []message.Delivery, until time.Time, reason string) error {
	return db.Write(ctx, func(tx *Tx) error {
		for _, d := range deliveries {
			err := tx.Defer(ctx, `
				UPDATE deliveries SET due_at = $3, gives_up_at = $4, reason = $5, held_by = NULL, lease = NULL, updated_at = $6,
					attempts = attempts - 1, total_attempts = total_attempts - 1
				WHERE id = $1 AND lease = $2`,
				d.ID, d.Lease, database.Micros(until), database.Micros(until.Add(message.MessageLifetime)), reason, database.Micros(tx.Now))
			if err != nil {
				return fmt.Errorf("postpone delivery %s: %w", d.ID, err)
			}
		}
		return nil
	})
}

// DeliveryDropped completes deliveries whose message is no longer wanted.
func (db *DB) DeliveryDropped(ctx context.Context, deliveries []message.Delivery, reason string) error {
	return db.setLeased(ctx, deliveries, `state = 'failed', reason = $2`, reason)
}

// setLeased sets columns of deliveries in one statement, so that they change together, and
// ends their lease. $1 is the time now; args are the parameters from $2 on. It changes no delivery that another
// claim has taken meanwhile: each has a lease that is not in the statement.
//
// The lease is the guard: only a queued delivery has one. A condition on the state would
// let PostgreSQL read all of an index of queued deliveries: when the last ANALYZE found few
// of them, it takes the index for small, but it holds old versions.
func (db *DB) setLeased(ctx context.Context, deliveries []message.Delivery, set string, args ...any) error {
	args = append([]any{database.Micros(db.Now())}, args...)
	first, n := len(args)+1, database.PaddedSize(len(deliveries))
	args = append(args, make([]any, 2*n)...)
	for i := range n {
		d := deliveries[min(i, len(deliveries)-1)]
		args[first-1+i], args[first-1+n+i] = d.ID, d.Lease
	}
	_, err := db.sql.Exec(ctx, `
		UPDATE deliveries SET `+set+`, lease = NULL, updated_at = $1
		WHERE id IN (`+database.Params(first, n)+`) AND lease IN (`+database.Params(first+n, n)+`)`, args...)
	return err
}

// DeliveryFailed completes the deliveries of a message that failed permanently. The same
// transaction marks the open requests of which they are the newest sending, and notifies
// the coach.
func (db *DB) DeliveryFailed(ctx context.Context, deliveries []message.Delivery, reason string, cause message.Cause) error {
	err := db.Write(ctx, func(tx *Tx) error {
		for _, d := range deliveries {
			err := tx.execLeased(ctx, `
				UPDATE deliveries SET state = 'failed', reason = $3, cause = CAST($5 AS TEXT), lease = NULL, updated_at = $4
				WHERE id = $1 AND lease = $2`, d.ID, d.Lease, reason, database.Micros(tx.Now), database.Text(string(cause)))
			if err == nil && d.Kind == message.Request {
				err = tx.markFailed(ctx, d)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return ignoreLeaseLost(err)
}

// markFailed marks the channel of a failed delivery as failed in its request and notifies the
// coach, if the request is open and was not sent again on this channel. It locks the request
// before it reads the deliveries: of two channels that fail at the same time, the second sees
// the first.
func (tx *Tx) markFailed(ctx context.Context, d message.Delivery) error {
	p := &approval.Player{Guardian: &approval.Guardian{}}
	var party actor.Role
	err := tx.QueryRow(ctx, `
		UPDATE requests SET failed_channels = replace(failed_channels, $4, '') || $4
		WHERE id = $1 AND state = 'pending' AND `+newestSending+`
		RETURNING player_id, coach_id, approver_type, (SELECT p.student_name FROM players p WHERE p.id = requests.player_id),
			(SELECT p.guardian_name FROM players p WHERE p.id = requests.player_id)`,
		d.RequestID, d.ID, string(d.Channel.OfRequest()), string(d.Channel.OfRequest())+",").
		Scan(&p.ID, &p.CoachID, &party, &p.Student.FullName, database.IntoText(&p.Guardian.Name))
	if database.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark channel %s of request %s: %w", d.Channel, d.RequestID, err)
	}
	rs, err := tx.Query(ctx, `
		SELECT id, channel, state, recipient <> '' FROM deliveries WHERE request_id = $1 AND kind = 'request'`, d.RequestID)
	messages, err := database.Collect(rs, err, func(s database.Scanner) (m message.RequestMessage, err error) {
		return m, s.Scan(&m.ID, &m.Channel, &m.State, &m.LeavesApp)
	})
	if err != nil {
		return fmt.Errorf("read deliveries of request %s: %w", d.RequestID, err)
	}
	err = tx.Defer(ctx, `UPDATE requests SET delivery_failed = $2 WHERE id = $1`, d.RequestID, message.AllFailed(messages))
	if err != nil {
		return fmt.Errorf("mark request %s: %w", d.RequestID, err)
	}
	p.Approver(party).Request = &approval.Request{ID: d.RequestID}
	return tx.Notify(ctx, []event.Event{p.DeliveryFailed(party, approval.Channel(d.Channel))})
}

// unmarkFailed removes the mark of markFailed. It returns false if the request was closed, or sent
// again on this channel.
func (tx *Tx) unmarkFailed(ctx context.Context, requestID, deliveryID string, channel message.Channel) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE requests SET delivery_failed = FALSE, failed_channels = replace(failed_channels, $4, '')
		WHERE id = $1 AND state = 'pending' AND `+newestSending,
		requestID, deliveryID, string(channel.OfRequest()), string(channel.OfRequest())+",")
	return n == 1, err
}

// errLeaseLost rolls back a transaction whose worker no longer holds the delivery.
var errLeaseLost = errors.New("the lease of the delivery ended")

// execLeased runs a statement that is guarded by a lease. It returns errLeaseLost if
// the statement changes no row.
func (tx *Tx) execLeased(ctx context.Context, query string, args ...any) error {
	n, err := tx.Exec(ctx, query, args...)
	if err != nil || n == 1 {
		return err
	}
	return errLeaseLost
}

// ignoreLeaseLost returns nil for errLeaseLost: the worker that holds the lease now
// completes the delivery.
func ignoreLeaseLost(err error) error {
	if errors.Is(err, errLeaseLost) {
		return nil
	}
	return err
}
