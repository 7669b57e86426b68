package fee

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Remind reminds the approved parties of a fee of the calling coach, in the app.
func (s *Service) Remind(ctx context.Context, by actor.Actor, feeID string) (sent Reminder, err error) {
	if err := s.CheckFeature(ctx, by, string(team.FeeReminders)); err != nil {
		return Reminder{}, err
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		a, err := s.loadAudience(ctx, tx, by.AccountID, feeID, tx.ForShare("p, a"))
		if err != nil {
			return err
		}
		var events []event.Event
		if sent, events, err = a.Remind(s.Now()); err != nil {
			return err
		}
		if err := tx.Complete(ctx, idempotency.Work{ID: feeID}); err != nil {
			return err
		}
		return saveReminder(ctx, tx, a.Fee, events)
	})
	return sent, err
}

// Reminder returns the result that Remind would have now. It sends nothing.
func (s *Service) Reminder(ctx context.Context, by actor.Actor, feeID string) (r Reminder, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		a, err := s.loadAudience(ctx, tx, by.AccountID, feeID, "")
		r = Reminder{Fee: a.Fee, Parties: a.parties(), Left: a.left(s.Now())}
		return err
	})
	return r, err
}

// RemindDue reminds the parties of up to n fees whose reminder is due, and returns how many
// it found. Each one is sent in a transaction that checks the version of the fee, so that
// only one replica sends it.
func (s *Service) RemindDue(ctx context.Context, n int) (int, error) {
	type due struct{ coachID, feeID string }
	rs, err := s.DB.Query(ctx, `SELECT coach_id, id FROM fees WHERE remind_at <= $1 ORDER BY remind_at, id LIMIT $2`, database.Micros(s.Now()), n)
	all, err := database.Collect(rs, err, func(s database.Scanner) (d due, err error) { return d, s.Scan(&d.coachID, &d.feeID) })
	if err != nil {
		return 0, fmt.Errorf("find due reminders of fees: %w", err)
	}
	what := func(d due) string { return "remind of fee " + d.feeID }
	return len(all), store.WriteEach(ctx, s.DB, all, what, func(tx *store.Tx, d due) error {
		a, err := s.loadAudience(ctx, tx, d.coachID, d.feeID, tx.ForShare("p, a"))
		if err != nil {
			return err
		}
		if at := a.Fee.RemindAt; at.IsZero() || at.After(tx.Now) {
			return nil // another replica was faster
		}
		return saveReminder(ctx, tx, a.Fee, a.RemindAutomatically(tx.Now))
	})
}

// saveReminder saves a fee, sends the notifications of a reminder and records whom they tell.
func saveReminder(ctx context.Context, tx *store.Tx, f *Fee, events []event.Event) error {
	if err := save(ctx, tx, f); err != nil {
		return err
	}
	told, err := notice.Tell(ctx, tx, events)
	if err != nil {
		return err
	}
	_, err = notice.Record(ctx, tx, f.CoachID, f.ID, string(event.FeeReminded), []string{f.PlayerID}, told)
	return err
}

// loadAudience reads a fee and the parties of its player. With the lock tx.ForShare("p, a") a decision
// of a party commits before, or waits until this transaction has committed.
func (s *Service) loadAudience(ctx context.Context, tx *store.Tx, coachID, feeID, lock string) (a Audience, err error) {
	if a.Fee, err = s.read(ctx, tx, coachID, feeID); err != nil {
		return a, err
	}
	rs, err := tx.Query(ctx, `
		SELECT c.name, EXISTS (SELECT 1 FROM accounts o WHERE o.id = p.coach_id AND o.suspended_at IS NOT NULL), a.role, a.guardian_id, a.account_id
		FROM players p JOIN parties a ON a.player_id = p.id LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.id = $1 AND p.deleted_at IS NULL ORDER BY a.role, a.position `+lock, a.Fee.PlayerID)
	parties, err := database.Collect(rs, err, func(row database.Scanner) (p Party, err error) {
		return p, row.Scan(database.IntoText(&a.CoachName), &a.Suspended, &p.Role, &p.GuardianID, database.IntoText(&p.AccountID))
	})
	if err != nil {
		return a, fmt.Errorf("lock player %s: %w", a.Fee.PlayerID, err)
	}
	enabled, err := s.Consent.Enabled(ctx, tx, []string{a.Fee.PlayerID})
	if err != nil {
		return a, err
	}
	for _, p := range parties {
		if p.AccountID != "" {
			p.Access = enabled(a.Fee.PlayerID, p.Role, p.GuardianID, team.FeeReminders)
			a.Linked = append(a.Linked, p)
		}
	}
	return a, nil
}
