package player

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// planSecondMessage plans the message that repeats a guardian's yes for a child whose services need it, Rules.SecondMessage later. It is the
// "plus" of the method "text plus" of COPPA (16 CFR 312.5(b)(2)): the guardian can object to a yes that somebody else gave.
func (w *saving) planSecondMessage(ctx context.Context) error {
	p, r, rules := w.p, w.c.History, w.s.Rules
	if !rules.Repeats(p, r) {
		return nil
	}
	return w.tx.Defer(ctx, `INSERT INTO second_messages (record_id, player_id, guardian_id, approved_at, due_at) VALUES ($1, $2, $3, $4, $5)`,
		r.ID, p.ID, r.GuardianID, database.Micros(r.At), database.Micros(r.At.Add(rules.SecondMessage)))
}

// dueMessage is a second message that is due.
type dueMessage struct {
	record, player, guardian string
	approvedAt               time.Time
}

// SendSecondMessages sends up to n second messages that are due, and returns how many it found. A yes that does not stand any more gets
// none. Each is in a transaction that deletes its row, so that only one replica sends it.
func (s *Service) SendSecondMessages(ctx context.Context, n int) (int, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT record_id, player_id, guardian_id, approved_at FROM second_messages WHERE due_at <= $1 ORDER BY due_at, record_id LIMIT $2`, database.Micros(s.DB.Now()), n)
	due, err := database.Collect(rs, err, func(row database.Scanner) (d dueMessage, err error) {
		return d, row.Scan(&d.record, &d.player, &d.guardian, database.IntoTime(&d.approvedAt))
	})
	if err != nil {
		return 0, fmt.Errorf("find second messages: %w", err)
	}
	what := func(d dueMessage) string { return "second message of " + d.record }
	return len(due), store.WriteEach(ctx, s.DB, due, what, func(tx *store.Tx, d dueMessage) error { return s.sendSecondMessage(ctx, tx, d) })
}

func (s *Service) sendSecondMessage(ctx context.Context, tx *store.Tx, d dueMessage) error {
	deleted, err := tx.Exec(ctx, `DELETE FROM second_messages WHERE record_id = $1`, d.record)
	if err != nil || deleted == 0 {
		return err
	}
	p, err := s.loadPlayer(ctx, tx, d.player, loadOptions{})
	if err != nil {
		return err
	}
	a := p.Find(actor.Guardian, d.guardian)
	if !p.DeletedAt.IsZero() || a == nil || a.Consent.State != approval.Approved || !a.Consent.ChangedAt.Equal(d.approvedAt) {
		return nil
	}
	return notice.Notify(ctx, tx, []event.Event{p.NewEvent(event.SecondMessage, a)})
}
