package player

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// planSecondMessage plans the message that repeats a guardian's yes for a child whose services need it,
// Rules.SecondMessage later. It is the "plus" of the method "text plus" of COPPA (16 CFR 312.5(b)(2)): the guardian can
// object to a yes that somebody else gave.
func (w *saving) planSecondMessage(ctx context.Context) error {
	p, r, rules := w.p, w.c.History, w.s.Rules
	if !rules.Repeats(p, r) {
		return nil
	}
	return w.tx.Defer(ctx, `INSERT INTO second_messages (record_id, player_id, guardian_id, approved_at, due_at) VALUES ($1, $2, $3, $4, $5)`,
		r.ID, p.ID, r.GuardianID, database.Micros(r.At), database.Micros(r.At.Add(rules.SecondMessage)))
}

// dueMessage is a second message that is due, or that was sent and may not have left.
type dueMessage struct {
	record, player, guardian  string
	approvedAt, dueAt, sentAt time.Time
}

// checkEvery is how often a second message is looked at that has not left within message.MessageLifetime, because it waits.
const checkEvery = time.Hour

// SendSecondMessages sends up to n second messages that are due, and looks at those that were sent a day ago. It returns how many it
// found. A yes that does not stand any more gets none. Each is in a transaction that guards its row, so that only one replica sends it.
func (s *Service) SendSecondMessages(ctx context.Context, n int) (int, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT record_id, player_id, guardian_id, approved_at, due_at, sent_at FROM second_messages WHERE due_at <= $1 ORDER BY due_at, record_id LIMIT $2`, database.Micros(s.DB.Now()), n)
	due, err := database.Collect(rs, err, func(row database.Scanner) (d dueMessage, err error) {
		return d, row.Scan(&d.record, &d.player, &d.guardian, database.IntoTime(&d.approvedAt), database.IntoTime(&d.dueAt), database.IntoTime(&d.sentAt))
	})
	if err != nil {
		return 0, fmt.Errorf("find second messages: %w", err)
	}
	what := func(d dueMessage) string { return "second message of " + d.record }
	return len(due), store.WriteEach(ctx, s.DB, due, what, func(tx *store.Tx, d dueMessage) error { return s.sendSecondMessage(ctx, tx, d) })
}

func (s *Service) sendSecondMessage(ctx context.Context, tx *store.Tx, d dueMessage) error {
	first, next := d.sentAt.IsZero(), checkEvery
	if first {
		d.sentAt, next = tx.Now, message.MessageLifetime
	}
	n, err := tx.Exec(ctx, `UPDATE second_messages SET due_at = $3, sent_at = $4 WHERE record_id = $1 AND due_at = $2`,
		d.record, database.Micros(d.dueAt), database.Micros(tx.Now.Add(next)), database.Micros(d.sentAt))
	if err != nil || n == 0 {
		return err
	}
	p, err := s.loadPlayer(ctx, tx, d.player, loadOptions{})
	if err != nil {
		return err
	}
	a := p.Find(actor.Guardian, d.guardian)
	stands := p.DeletedAt.IsZero() && a != nil && a.Consent.State == approval.Approved && a.Consent.ChangedAt.Equal(d.approvedAt)
	if first && stands {
		return notice.Notify(ctx, tx, []event.Event{p.NewEvent(event.SecondMessage, a)})
	}
	failed := false
	if stands {
		var left, waiting, all int
		err := tx.QueryRow(ctx, `
			SELECT count(CASE WHEN d.state IN ('sent', 'delivered') THEN 1 END), count(CASE WHEN d.state = 'queued' THEN 1 END), count(*)
			FROM deliveries d JOIN notifications n ON n.id = d.notification_id
			WHERE d.account_id = $1 AND d.request_id IS NULL AND d.channel <> 'push' AND n.account_id = $1 AND n.player_id = $2 AND n.type = $3 AND d.created_at >= $4`,
			a.AccountID, d.player, string(message.SecondMessage), database.Micros(d.sentAt)).Scan(&left, &waiting, &all)
		if err != nil {
			return fmt.Errorf("read the second message of %s: %w", d.record, err)
		}
		if left == 0 && waiting > 0 {
			return nil
		}
		failed = left == 0 && all > 0 // a test number gets no copies
	}
	if err := tx.Defer(ctx, `DELETE FROM second_messages WHERE record_id = $1`, d.record); err != nil || !failed {
		return err
	}
	return s.endUnrepeated(ctx, tx, p, d.guardian)
}

// endUnrepeated makes a yes pending again whose second message never left, unless the guardian proved to be an adult otherwise. The coach
// is told to check the number.
func (s *Service) endUnrepeated(ctx context.Context, tx *store.Tx, p *storedPlayer, guardianID string) error {
	_, err := s.changePlayer(ctx, tx, p, loadOptions{}, func(p *approval.Player, op approval.Operation) (c approval.Change, _ error) {
		if a := p.Find(actor.Guardian, guardianID); !a.Proof.Valid(op.Now) {
			p.EndApproval(a, p.DeliveryFailed(a, message.SMS), op, &c)
		}
		return c, nil
	})
	return err
}
