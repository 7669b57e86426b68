package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notify"
)

// queue saves the deliveries of a change. The worker counts them against the message
// limits. Each queued message has its own link.
func (tx *tx) queue(ctx context.Context, p *approval.Player, c approval.Change) error {
	if len(c.Send) == 0 {
		return nil
	}
	var values, links []any
	for _, m := range c.Send {
		id, due, created := tx.db.options.NewID(), tx.Now, tx.Now
		if m.Kind == approval.MessageRequest {
			created = m.Request.LastSentAt // DeliveryFailed identifies the newest sending by it
		}
		lane := tx.db.options.Settings.first(notify.Lane{Channel: notify.Channel(m.Channel), Kind: notify.Kind(m.Kind)}, m.State)
		if m.HeldUntil.After(due) {
			due, m.Reason = m.HeldUntil, notify.ReasonHeld
		}
		if m.State == approval.DeliveryQueued {
			hash, err := tx.db.linkHash(id)
			if err != nil {
				return err
			}
			links = append(links, hash, m.Request.ID, micros(due.Add(tx.db.options.Settings.LinkValidity)),
				m.Address == string(p.Number(m.Request.Party)))
			tx.wakeOutbox(lane)
		}
		values = append(values, id, m.Kind, string(lane.Channel), m.State, text(m.Reason), p.Approver(m.Request.Party).AccountID,
			m.Address, string(m.Request.Party), p.CoachID, m.Request.ID, text(c.Network),
			micros(due), micros(due.Add(notify.MessageLifetime)), micros(created), micros(tx.Now), 0)
	}
	err := tx.Defer(ctx, `
		INSERT INTO deliveries (id, kind, channel, state, reason, account_id, recipient, role, coach_id, request_id, network,
			due_at, gives_up_at, created_at, updated_at, attempts)
		VALUES `+rowsOf(len(c.Send), 16), values...)
	if err != nil {
		return fmt.Errorf("queue deliveries: %w", err)
	}
	if len(links) == 0 {
		return nil
	}
	err = tx.Defer(ctx, `INSERT INTO request_links (hash, request_id, ends_at, to_number) VALUES `+rowsOf(len(links)/4, 4), links...)
	if err != nil {
		return fmt.Errorf("create links: %w", err)
	}
	return nil
}
