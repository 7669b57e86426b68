package notice

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// End deletes the notifications about a player for an account, of these types or of
// every type, and drops their copies that a worker has not begun to send. After the commit it waits
// for those that a worker is sending: the caller learns that the approval has ended only when
// nothing leaves any more.
//
// The row of each copy decides. message.Store.MarkSending marks it under its lease, so either this transaction
// finds the mark, or it ends the lease and MarkSending does not find the row.
func End(ctx context.Context, tx *store.Tx, playerID, accountID string, types ...message.Type) error {
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
		WHERE kind = 'notice' AND state = 'queued' AND account_id = $2 AND request_id IS NULL AND notification_id IN (SELECT id`+ended+`)
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
		WHERE kind = 'notice' AND state = 'queued' AND account_id = $2 AND request_id IS NULL AND notification_id IN (SELECT id`+ended+`)
			AND sending_lease = lease AND lease_ends_at > `+database.Params(next, 1), append(args, database.Micros(tx.Now))...)
	if err != nil {
		return fmt.Errorf("find copies that are being sent: %w", err)
	}
	tx.AfterCommit(func() { awaitSent(ctx, tx.DB(), sending) })
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
func awaitSent(ctx context.Context, db *store.DB, sending []message.Delivery) {
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
		err := db.QueryRow(ctx, query, args...).Scan(&unfinished)
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
