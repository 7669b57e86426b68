package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

// DeliverySent completes the deliveries of messages that the provider accepted.
func (st *Store) DeliverySent(ctx context.Context, accepted []message.Delivery) error {
	return st.setLeased(ctx, accepted, `state = 'sent', reason = NULL, left_at = coalesce(left_at, $1)`)
}

// SaveProviderID stores the provider's id of a message that a delivery carried. A long text has several
// ids, of which the last one is kept.
func (st *Store) SaveProviderID(ctx context.Context, deliveryID, providerID string) error {
	_, err := st.DB.Exec(ctx, `UPDATE deliveries SET provider_id = $2 WHERE id = $1`, deliveryID, providerID)
	return err
}

// DeliverySuppressed completes deliveries to a test number, to which nothing is sent.
func (st *Store) DeliverySuppressed(ctx context.Context, deliveries []message.Delivery) error {
	return st.setLeased(ctx, deliveries, `state = 'sent', reason = $2`, message.ReasonTestNumber)
}

// RetryDelivery releases the deliveries of a message for another attempt at due.
func (st *Store) RetryDelivery(ctx context.Context, deliveries []message.Delivery, due time.Time, reason string) error {
	return st.setLeased(ctx, deliveries, `due_at = $2, reason = $3`, database.Micros(due), reason)
}

// AwaitStatus makes the deliveries of a message that the provider accepted wait until its
// status must be known.
func (st *Store) AwaitStatus(ctx context.Context, deliveries []message.Delivery, until time.Time) error {
	return st.setLeased(ctx, deliveries, `due_at = $2, reason = $3, left_at = coalesce(left_at, $1)`, database.Micros(until), message.ReasonAwaitingStatus)
}

// FallBack queues the deliveries of a message on another channel, with new attempts there.
func (st *Store) FallBack(ctx context.Context, deliveries []message.Delivery, to message.Channel) error {
	return st.setLeased(ctx, deliveries, `channel = $2, due_at = $1, reason = $3, attempts = 0`, string(to), message.ReasonRetrying)
}

// PostponeDelivery makes the deliveries of a message wait until a time, for example the end
// of quiet hours. The attempt does not count, and its lifetime begins when it leaves.
func (st *Store) PostponeDelivery(ctx context.Context, deliveries []message.Delivery, until time.Time, reason string) error {
	return st.DB.Write(ctx, func(tx *database.Tx) error {
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
func (st *Store) DeliveryDropped(ctx context.Context, deliveries []message.Delivery, reason string) error {
	return st.setLeased(ctx, deliveries, `state = 'failed', reason = $2`, reason)
}

// setLeased sets columns of deliveries in one statement, so that they change together, and
// ends their lease. $1 is the time now; args are the parameters from $2 on. It changes no delivery that another
// claim has taken meanwhile: each has a lease that is not in the statement.
//
// The lease is the guard: only a queued delivery has one. A condition on the state would
// let PostgreSQL read all of an index of queued deliveries: when the last ANALYZE found few
// of them, it takes the index for small, but it holds old versions.
func (st *Store) setLeased(ctx context.Context, deliveries []message.Delivery, set string, args ...any) error {
	args = append([]any{database.Micros(st.DB.Now())}, args...)
	first, n := len(args)+1, database.PaddedSize(len(deliveries))
	args = append(args, make([]any, 2*n)...)
	for i := range n {
		d := deliveries[min(i, len(deliveries)-1)]
		args[first-1+i], args[first-1+n+i] = d.ID, d.Lease
	}
	_, err := st.DB.Exec(ctx, `
		UPDATE deliveries SET `+set+`, lease = NULL, updated_at = $1
		WHERE id IN (`+database.Params(first, n)+`) AND lease IN (`+database.Params(first+n, n)+`)`, args...)
	return err
}

// DeliveryFailed completes the deliveries of a message that failed permanently. The same
// transaction marks the open requests of which they are the newest sending, and notifies
// the coach.
func (st *Store) DeliveryFailed(ctx context.Context, deliveries []message.Delivery, reason string, cause message.Cause) error {
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		for _, d := range deliveries {
			err := execLeased(ctx, tx, `
				UPDATE deliveries SET state = 'failed', reason = $3, cause = CAST($5 AS TEXT), lease = NULL, updated_at = $4
				WHERE id = $1 AND lease = $2`, d.ID, d.Lease, reason, database.Micros(tx.Now), database.Text(string(cause)))
			if err == nil && d.Kind == message.Request {
				err = st.Requests.Failed(ctx, tx, d)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return ignoreLeaseLost(err)
}

// errLeaseLost rolls back a transaction whose worker no longer holds the delivery.
var errLeaseLost = errors.New("the lease of the delivery ended")

// execLeased runs a statement that is guarded by a lease. It returns errLeaseLost if
// the statement changes no row.
func execLeased(ctx context.Context, tx *database.Tx, query string, args ...any) error {
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

// MarkSending marks the deliveries of messages that leave now and returns the messages whose
// deliveries still have their lease. A transaction that ended the approval of a recipient meanwhile
// took the lease away.
func (st *Store) MarkSending(ctx context.Context, messages []message.Outgoing) ([]message.Outgoing, error) {
	n := database.PaddedSize(len(messages))
	args := make([]any, 2*n)
	for i := range n {
		d := messages[min(i, len(messages)-1)].Deliveries[0]
		args[i], args[n+i] = d.ID, d.Lease
	}
	marked := map[string]bool{}
	err := st.DB.ExecRows(ctx, func(rs *database.Rows, err error) error {
		clear(marked)
		_, err = database.Collect(rs, err, func(s database.Scanner) (id string, err error) {
			err = s.Scan(&id)
			marked[id] = true
			return id, err
		})
		return err
	}, `
		UPDATE deliveries SET sending_lease = lease
		WHERE id IN (`+database.Params(1, n)+`) AND lease IN (`+database.Params(1+n, n)+`)
		RETURNING id`, args...)
	if err != nil {
		return nil, fmt.Errorf("mark deliveries as being sent: %w", err)
	}
	var left []message.Outgoing
	for _, m := range messages {
		if marked[m.Deliveries[0].ID] {
			left = append(left, m)
		}
	}
	return left, nil
}
