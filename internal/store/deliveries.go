package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notify"
)

// queue writes the messages of a change: those in the app have arrived with the
// notification, an SMS waits for the worker. One that exceeds a cap is held until
// the cap lets it through, and is counted again then. Each SMS has its own link.
// What goes to no phone counts against no cap and has no link.
func (tx *tx) queue(ctx context.Context, p *approval.Player, c approval.Change) error {
	if len(c.Send) == 0 {
		return nil
	}
	quota, err := tx.quota(ctx, p.CoachID)
	if err != nil {
		return err
	}
	// By number, so that two who count against the same caps cannot wait for each other.
	sorted := slices.Clone(c.Send)
	slices.SortStableFunc(sorted, func(a, b approval.Message) int { return cmp.Compare(a.To, b.To) })
	var values, links []any
	for _, m := range sorted {
		id, state, due, made := tx.db.NewID(), "delivered", tx.Now, tx.Now
		if m.Kind == approval.MessageRequest {
			made = m.Request.LastSentAt // DeliveryFailed knows the newest sending by it
		}
		var reason, recipient string
		if m.Channel == approval.SMS {
			recipient = string(m.To)
			switch {
			case m.Unreachable:
				state, reason = "failed", "destination_blocked"
			case m.Suppressed:
				state, reason = "sent", sparedReason
			default:
				state = "queued"
				limited, err := tx.take(ctx, tx.Now, tx.db.caps(p.CoachID, quota.limit, m.To))
				if err != nil {
					return err
				}
				if limited != nil && c.Explicit {
					if err := tx.withinQuota(ctx, quota); err != nil {
						return err
					}
				}
				if limited != nil {
					reason, due = heldReason, tx.Now.Add(limited.Wait)
				} else {
					tx.wakeOutbox(notify.Kind(m.Kind))
				}
				hash, err := tx.db.linkHash(id)
				if err != nil {
					return err
				}
				links = append(links, hash, m.Request.ID, micros(due.Add(tx.db.Settings.LinkValidity)))
			}
		}
		values = append(values, id, m.Kind, string(m.Channel), state, text(reason), p.Approver(m.Request.Party).AccountID,
			recipient, string(m.Request.Party), p.CoachID, m.Request.ID, micros(due), micros(due.Add(messageLife)), micros(made), micros(tx.Now), 0)
	}
	err = tx.Defer(ctx, `
		INSERT INTO deliveries (id, kind, channel, state, reason, account_id, recipient, role, coach_id, request_id,
			due_at, gives_up_at, created_at, updated_at, attempts)
		VALUES `+rowsOf(len(sorted), 15), values...)
	if err != nil {
		return fmt.Errorf("queue deliveries: %w", err)
	}
	if len(links) == 0 {
		return nil
	}
	err = tx.Defer(ctx, `INSERT INTO request_links (hash, request_id, ends_at) VALUES `+rowsOf(len(links)/3, 3), links...)
	if err != nil {
		return fmt.Errorf("make links: %w", err)
	}
	return nil
}
