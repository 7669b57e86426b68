package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notify"
)

// queue saves the deliveries of a change. A message that exceeds a message limit is
// held until the limit admits it, and is counted then. Each queued message has its own
// link.
func (tx *tx) queue(ctx context.Context, p *approval.Player, c approval.Change) error {
	if len(c.Send) == 0 {
		return nil
	}
	quota, err := tx.messageQuota(ctx, p.CoachID)
	if err != nil {
		return err
	}
	// Sorted by address, so that two transactions with the same limits cannot deadlock.
	sorted := slices.Clone(c.Send)
	slices.SortStableFunc(sorted, func(a, b approval.Message) int { return cmp.Compare(a.Address, b.Address) })
	var values, links []any
	for _, m := range sorted {
		id, due, created := tx.db.options.NewID(), tx.Now, tx.Now
		if m.Kind == approval.MessageRequest {
			created = m.Request.LastSentAt // DeliveryFailed identifies the newest sending by it
		}
		reason := m.Reason
		if m.State == approval.DeliveryQueued {
			if due, err = tx.admit(ctx, quota, m, c.Explicit); err != nil {
				return err
			}
			if due.After(tx.Now) {
				reason = notify.ReasonHeld
			}
			hash, err := tx.db.linkHash(id)
			if err != nil {
				return err
			}
			links = append(links, hash, m.Request.ID, micros(due.Add(tx.db.options.Settings.LinkValidity)))
		}
		values = append(values, id, m.Kind, string(m.Channel), m.State, text(reason), p.Approver(m.Request.Party).AccountID,
			m.Address, string(m.Request.Party), p.CoachID, m.Request.ID, micros(due), micros(due.Add(notify.MessageLifetime)), micros(created), micros(tx.Now), 0)
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
		return fmt.Errorf("create links: %w", err)
	}
	return nil
}

// admit counts a message against the message limits and returns when it may be sent:
// now, or later if a limit is exceeded. If the coach asked for the message explicitly
// and the tier has none left, it returns tier_limit.
func (tx *tx) admit(ctx context.Context, quota messageQuota, m approval.Message, explicit bool) (time.Time, error) {
	exceeded, err := tx.takeMessage(ctx, quota, m.Address)
	if err != nil {
		return time.Time{}, err
	}
	if exceeded == nil {
		tx.wakeOutbox(notify.Lane{Channel: notify.Channel(m.Channel), Kind: notify.Kind(m.Kind)})
		return tx.Now, nil
	}
	if explicit {
		if err := tx.checkMessageQuota(ctx, quota); err != nil {
			return time.Time{}, err
		}
	}
	return tx.Now.Add(exceeded.Wait), nil
}
