package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

// StoreReceipt applies a report to the deliveries that Report.Targets returns, as
// ReceiptTarget.Effect says. It ends the lease of a worker that has not yet stored the
// provider's response. It returns how many deliveries changed: 0 for a message that the
// sweep has deleted.
func (st *Store) StoreReceipt(ctx context.Context, r message.Report) (int, error) {
	changed := 0
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		changed = 0
		if r.MessageID == "" {
			err := tx.QueryRow(ctx, `SELECT id FROM deliveries WHERE provider_id = $1 AND channel = 'chat'`, r.ProviderID).Scan(&r.MessageID)
			if database.IsNoRows(err) {
				return nil // of another system, or it left by SMS meanwhile
			}
			if err != nil {
				return fmt.Errorf("find message %s of WhatsApp: %w", r.ProviderID, err)
			}
		}
		if r.UserID != "" {
			if err := noteUser(ctx, tx, r.UserID, r.MessageID); err != nil {
				return err
			}
		}
		found, err := receiptTargets(ctx, tx, r.MessageID)
		if err != nil {
			return fmt.Errorf("read deliveries of message %s: %w", r.MessageID, err)
		}
		for _, d := range r.Targets(found) {
			effect, differs := d.Effect(r, st.Settings.Fallbacks, tx.Now)
			if differs {
				if err := st.applyReceipt(ctx, tx, d, effect); err != nil {
					return fmt.Errorf("store the receipt of delivery %s: %w", d.ID, err)
				}
				changed++
			}
			if r.Receipt == message.ReceiptRead {
				// The channel is the one that reports it: the message may have left by SMS meanwhile.
				err := tx.Defer(ctx, `
					UPDATE deliveries SET read_at = $2 WHERE id = $1 AND state = 'delivered' AND channel = 'chat' AND read_at IS NULL`, d.ID, database.Micros(tx.Now))
				if err != nil {
					return fmt.Errorf("store that delivery %s was read: %w", d.ID, err)
				}
			}
		}
		return nil
	})
	return changed, err
}

const receiptColumns = `id, kind, channel, state, reason, lease, attempts, total_attempts, gives_up_at, request_id, gathered_by, stays`

// receiptTargets returns the delivery of a message and those that it gathered, in the order of
// their ids, so that concurrent receipts do not deadlock.
func receiptTargets(ctx context.Context, tx *database.Tx, messageID string) ([]message.ReceiptTarget, error) {
	rs, err := tx.Query(ctx, `
		SELECT `+receiptColumns+` FROM deliveries WHERE id = $1
		UNION ALL SELECT `+receiptColumns+` FROM deliveries WHERE gathered_by = $1 AND id <> $1`, messageID)
	found, err := database.Collect(rs, err, func(s database.Scanner) (d message.ReceiptTarget, err error) {
		err = s.Scan(&d.ID, &d.Kind, &d.Channel, &d.Status.State, database.IntoText(&d.Status.Reason), database.IntoText(&d.Lease), &d.Attempts,
			&d.TotalAttempts, database.IntoTime(&d.GivesUpAt), database.IntoText(&d.RequestID), database.IntoText(&d.GatheredBy), &d.Stays)
		d.Status.Leased, d.Status.Attempts, d.Status.TotalAttempts = d.Lease != "", d.Attempts, d.TotalAttempts
		return d, err
	})
	slices.SortFunc(found, func(a, b message.ReceiptTarget) int { return strings.Compare(a.ID, b.ID) })
	return found, err
}

// applyReceipt saves the effect of a receipt on d. It returns ErrStale if d changed meanwhile.
func (st *Store) applyReceipt(ctx context.Context, tx *database.Tx, d message.ReceiptTarget, e message.ReceiptEffect) error {
	if e.FallBack != "" {
		return st.fallBack(ctx, tx, d, e)
	}
	err := tx.ExecOne(ctx, `
		UPDATE deliveries SET state = $2, reason = CAST($3 AS TEXT), cause = CAST($9 AS TEXT), lease = NULL, held_by = NULL,
			updated_at = $4, left_at = coalesce(left_at, $4)
		WHERE id = $1 AND state = $5 AND reason IS NOT DISTINCT FROM CAST($6 AS TEXT) AND lease IS NOT DISTINCT FROM CAST($7 AS TEXT)
			AND attempts = $8`,
		d.ID, e.Status.State, database.Text(e.Status.Reason), database.Micros(tx.Now), d.Status.State, database.Text(d.Status.Reason), database.Text(d.Lease), d.Attempts,
		database.Text(string(e.Status.Cause)))
	switch {
	case err != nil:
		return err
	case e.FailsRequest:
		return st.Requests.Failed(ctx, tx, d.Delivery)
	case e.ReachesRequest:
		_, err = st.Requests.Reached(ctx, tx, d.RequestID, d.ID, d.Channel)
	}
	return err
}

// fallBack queues d on another channel. It returns ErrStale if d changed meanwhile.
func (st *Store) fallBack(ctx context.Context, tx *database.Tx, d message.ReceiptTarget, e message.ReceiptEffect) error {
	err := tx.ExecOne(ctx, `
		UPDATE deliveries SET state = 'queued', channel = $2, reason = 'retrying', attempts = 0, lease = NULL, due_at = $3, updated_at = $3, gives_up_at = $4
		WHERE id = $1 AND state = $5 AND reason IS NOT DISTINCT FROM CAST($6 AS TEXT) AND lease IS NOT DISTINCT FROM CAST($7 AS TEXT)
			AND attempts = $8 AND channel = $9`,
		d.ID, string(e.FallBack), database.Micros(tx.Now), database.Micros(e.GivesUpAt), d.Status.State, database.Text(d.Status.Reason), database.Text(d.Lease),
		d.Attempts, string(d.Channel))
	if err == nil {
		st.Wake(tx, message.Lane{Channel: e.FallBack, Kind: d.Kind})
	}
	return err
}
