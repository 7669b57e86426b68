package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

// EndNotifications deletes the notifications about a player for an account, of these types or of
// every type, and drops their copies that a worker has not begun to send. After the commit it waits
// for those that a worker is sending: the caller learns that the approval has ended only when
// nothing leaves any more.
//
// The row of each copy decides. MarkSending marks it under its lease, so either this transaction
// finds the mark, or it ends the lease and MarkSending does not find the row.
func (tx *Tx) EndNotifications(ctx context.Context, playerID, accountID string, types ...message.Type) error {
	args := []any{playerID, accountID}
	ended := ` FROM notifications WHERE player_id = $1 AND account_id = $2`
	if len(types) > 0 {
		ended += ` AND type IN (` + database.Params(3, len(types)) + `)`
	}
	for _, t := range types {
		args = append(args, string(t))
	}
	args = slices.Clip(args) // the statements share args, and each appends to a copy
	next := len(args) + 1
	err := tx.Defer(ctx, `
		UPDATE deliveries SET state = 'failed', reason = `+database.Params(next, 1)+`, lease = NULL, updated_at = `+database.Params(next+1, 1)+`
		WHERE kind = 'notice' AND state = 'queued' AND account_id = $2 AND notification_id IN (SELECT id`+ended+`)
			AND (lease IS NULL OR sending_lease IS NULL OR sending_lease <> lease)`,
		append(args, message.ReasonNotWanted, database.Micros(tx.Now))...)
	if err != nil {
		return fmt.Errorf("drop copies of notifications: %w", err)
	}
	var sending []message.Delivery
	err = tx.DeferRows(ctx, func(s database.Scanner) error {
		var d message.Delivery
		err := s.Scan(&d.ID, &d.Lease)
		sending = append(sending, d)
		return err
	}, `
		SELECT id, lease FROM deliveries
		WHERE kind = 'notice' AND state = 'queued' AND account_id = $2 AND notification_id IN (SELECT id`+ended+`)
			AND sending_lease = lease AND due_at > `+database.Params(next, 1), append(args, database.Micros(tx.Now))...)
	if err != nil {
		return fmt.Errorf("find copies that are being sent: %w", err)
	}
	tx.AfterCommit(func() { tx.db.awaitSent(ctx, sending) })
	if err := tx.Defer(ctx, `DELETE`+ended, args...); err != nil {
		return fmt.Errorf("delete notifications of player %s: %w", playerID, err)
	}
	return nil
}

const (
	// awaitSentAtMost is how long an answer waits for messages that are being sent.
	awaitSentAtMost = time.Second
	awaitSentEvery  = 5 * time.Millisecond
)

// awaitSent waits until the results of deliveries are stored, or their leases are lost, by a worker
// of any replica. It gives up after awaitSentAtMost: a provider may be slower.
func (db *DB) awaitSent(ctx context.Context, sending []message.Delivery) {
	if len(sending) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), awaitSentAtMost)
	defer cancel()
	ids, leases := make([]any, len(sending)), make([]any, len(sending))
	for i, d := range sending {
		ids[i], leases[i] = d.ID, d.Lease
	}
	args := append(ids, leases...)
	query := `SELECT EXISTS (SELECT 1 FROM deliveries WHERE id IN (` + database.Params(1, len(ids)) + `) AND lease IN (` + database.Params(1+len(ids), len(leases)) + `))`
	for wait := awaitSentEvery; ; wait = min(2*wait, 8*awaitSentEvery) {
		var unfinished bool
		err := db.sql.QueryRow(ctx, query, args...).Scan(&unfinished)
		if err != nil || !unfinished {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// MarkSending marks the deliveries of messages that leave now and returns the messages whose
// deliveries still have their lease. A transaction that ended the approval of a recipient meanwhile
// took the lease away.
func (db *DB) MarkSending(ctx context.Context, messages []message.Outgoing) ([]message.Outgoing, error) {
	n := database.PaddedSize(len(messages))
	args := make([]any, 2*n)
	for i := range n {
		d := messages[min(i, len(messages)-1)].Deliveries[0]
		args[i], args[n+i] = d.ID, d.Lease
	}
	marked := map[string]bool{}
	err := db.sql.ExecRows(ctx, func(rs *database.Rows, err error) error {
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
