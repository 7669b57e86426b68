package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/notify"
)

var _ notify.ReceiptStore = (*DB)(nil)

// StoreReceipt applies a report to the deliveries of a message: that with its id, and those
// that its id gathered. It ends the lease of a worker that has not yet stored the provider's
// response. A permanent failure marks the request and notifies the coach as DeliveryFailed
// does, unless another channel sends the message then; a late delivery ends the mark. It returns how many deliveries changed: 0 for a
// message that the sweep has deleted.
func (db *DB) StoreReceipt(ctx context.Context, r notify.Report) (int, error) {
	changed := 0
	err := db.write(ctx, func(tx *tx) error {
		changed = 0
		targets, err := tx.receiptTargets(ctx, r)
		if err != nil {
			return fmt.Errorf("read deliveries of message %s: %w", r.MessageID, err)
		}
		for _, d := range targets {
			after, differs := d.effective.After(r)
			if !differs {
				continue
			}
			apply := tx.applyReceipt
			if to, ok := tx.db.options.Settings.Fallbacks[d.Channel]; ok && after.State == notify.FailedState {
				apply = func(ctx context.Context, d receiptTarget, _ notify.DeliveryStatus) error {
					return tx.fallBack(ctx, d, to)
				}
			}
			if err := apply(ctx, d, after); err != nil {
				return fmt.Errorf("store the receipt of delivery %s: %w", d.ID, err)
			}
			changed++
		}
		return nil
	})
	return changed, err
}

// receiptTarget is a delivery that a receipt may change.
type receiptTarget struct {
	notify.Delivery
	status notify.DeliveryStatus
	// effective is status with the attempts of the message.
	effective notify.DeliveryStatus
}

const receiptSelect = `
	SELECT id, kind, channel, state, reason, lease, attempts, total_attempts, request_id, gathered_by FROM deliveries `

func scanReceiptTarget(s database.Scanner) (d receiptTarget, err error) {
	err = s.Scan(&d.ID, &d.Kind, &d.Channel, &d.status.State, intoText(&d.status.Reason), intoText(&d.Lease), &d.status.Attempts,
		&d.status.TotalAttempts, intoText(&d.RequestID), intoText(&d.GatheredBy))
	d.status.Leased = d.Lease != ""
	d.effective = d.status
	return d, err
}

// receiptTargets returns the deliveries of the message of r, in one order, so that
// concurrent receipts do not deadlock. The attempts of a message with several deliveries
// are those of its first one. If an operator has sent the first one again, alone, its
// earlier attempts are those of the others.
func (tx *tx) receiptTargets(ctx context.Context, r notify.Report) ([]receiptTarget, error) {
	rs, err := tx.Query(ctx, receiptSelect+`WHERE id = $1`, r.MessageID)
	found, err := database.Collect(rs, err, scanReceiptTarget)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	first := found[0]
	attempts, total := first.status.Attempts, first.status.TotalAttempts
	if first.GatheredBy != r.MessageID {
		earlier := total - attempts
		if first.GatheredBy != "" || r.Attempt > earlier {
			return found, nil
		}
		attempts, total = earlier, earlier
	}
	rs, err = tx.Query(ctx, receiptSelect+`WHERE gathered_by = $1`, r.MessageID)
	gathered, err := database.Collect(rs, err, scanReceiptTarget)
	for i := range gathered {
		gathered[i].effective.Attempts, gathered[i].effective.TotalAttempts = attempts, total
	}
	if first.GatheredBy == "" {
		gathered = append(gathered, first)
	}
	slices.SortFunc(gathered, func(a, b receiptTarget) int { return strings.Compare(a.ID, b.ID) })
	return gathered, err
}

// fallBack queues d on another channel after a receipt that the first one could not deliver
// it. It returns ErrStale if d changed meanwhile. An OTP is not sent for longer than it is
// valid; any other message has a new lifetime.
func (tx *tx) fallBack(ctx context.Context, d receiptTarget, to notify.Channel) error {
	err := tx.ExecOne(ctx, `
		UPDATE deliveries SET state = 'queued', channel = $2, reason = 'retrying', attempts = 0, lease = NULL, due_at = $3, updated_at = $3,
			gives_up_at = CASE WHEN kind = 'otp' THEN gives_up_at ELSE $4 END
		WHERE id = $1 AND state = $5 AND reason IS NOT DISTINCT FROM CAST($6 AS TEXT) AND lease IS NOT DISTINCT FROM CAST($7 AS TEXT)
			AND attempts = $8 AND channel = $9`,
		d.ID, string(to), micros(tx.Now), micros(tx.Now.Add(notify.MessageLifetime)), d.status.State, text(d.status.Reason), text(d.Lease),
		d.status.Attempts, string(d.Channel))
	if err == nil {
		tx.wakeOutbox(notify.Lane{Channel: to, Kind: d.Kind})
	}
	return err
}

// applyReceipt saves the status of d after a receipt, with its consequences. It returns
// ErrStale if d changed meanwhile.
func (tx *tx) applyReceipt(ctx context.Context, d receiptTarget, after notify.DeliveryStatus) error {
	err := tx.ExecOne(ctx, `
		UPDATE deliveries SET state = $2, reason = CAST($3 AS TEXT), cause = CAST($9 AS TEXT), lease = NULL, held_by = NULL, updated_at = $4
		WHERE id = $1 AND state = $5 AND reason IS NOT DISTINCT FROM CAST($6 AS TEXT) AND lease IS NOT DISTINCT FROM CAST($7 AS TEXT)
			AND attempts = $8`,
		d.ID, after.State, text(after.Reason), micros(tx.Now), d.status.State, text(d.status.Reason), text(d.Lease), d.status.Attempts,
		text(string(after.Cause)))
	switch {
	case err != nil || d.Kind != notify.Request:
		return err
	case after.Reason == notify.ReasonRefused:
		return tx.markFailed(ctx, d.Delivery)
	case after.State == notify.DeliveredState && d.status.State == notify.FailedState:
		_, err = tx.Exec(ctx, `
			UPDATE requests SET delivery_failed = FALSE, failed_channels = replace(failed_channels, $4, '')
			WHERE id = $1 AND state = 'pending'
				AND NOT EXISTS (SELECT 1 FROM deliveries n WHERE n.request_id = $1 AND n.kind = 'request' AND `+channelOfRequest+` = $3 AND n.id > $2)`,
			d.RequestID, d.ID, string(d.Channel.OfRequest()), string(d.Channel.OfRequest())+",")
	}
	return err
}
