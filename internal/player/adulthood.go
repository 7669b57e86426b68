package player

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// dueAdult is a player with a due AdultStep.
type dueAdult struct {
	id   string
	step approval.AdultStep
	at   time.Time
	born approval.Date
	zone string
}

// TurnAdults carries out the due steps of up to n students who become adults, and returns how many
// it found. Each one is in a transaction that guards its step, so that only one replica does it.
func (s *Service) TurnAdults(ctx context.Context, n int) (int, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT p.id, p.adult_step, p.adult_step_at, p.date_of_birth, c.time_zone
		FROM players p LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.adult_step_at <= $1 AND p.deleted_at IS NULL ORDER BY p.adult_step_at, p.id LIMIT $2`, database.Micros(s.DB.Now()), n)
	due, err := database.Collect(rs, err, func(row database.Scanner) (d dueAdult, err error) {
		var born string
		err = row.Scan(&d.id, &d.step, database.IntoTime(&d.at), &born, database.IntoText(&d.zone))
		if err == nil {
			d.born, err = approval.ParseDate(born)
		}
		return d, err
	})
	if err != nil {
		return 0, fmt.Errorf("find students who become adults: %w", err)
	}
	what := func(d dueAdult) string { return "step " + string(d.step) + " of player " + d.id }
	return len(due), store.WriteEach(ctx, s.DB, due, what, func(tx *store.Tx, d dueAdult) error { return s.turnAdult(ctx, tx, d) })
}

// turnAdult carries out one step, unless another replica was faster or the birth date has changed.
func (s *Service) turnAdult(ctx context.Context, tx *store.Tx, d dueAdult) error {
	zone, err := time.LoadLocation(tx.ZoneOf(d.zone))
	if err != nil {
		return err
	}
	next, at, done := approval.NextAdultStep(d.step, d.born, tx.Now, zone)
	n, err := tx.Exec(ctx, `
		UPDATE players SET adult_step = $4, adult_step_at = $5
		WHERE id = $1 AND adult_step = $2 AND adult_step_at = $3 AND date_of_birth = $6 AND deleted_at IS NULL`,
		d.id, string(d.step), database.Micros(d.at), database.Text(string(next)), database.Micros(at), d.born.String())
	if err != nil || n == 0 || !done {
		return err
	}
	p, err := s.loadPlayer(ctx, tx, d.id, loadOptions{})
	if err != nil {
		return err
	}
	if d.step != approval.GuardianAlone {
		events := p.AdultEvents(d.step, tx.Now, zone)
		for i := range events {
			if events[i].Party != "" && events[i].PartyID != "" {
				events[i].AppOnly, err = s.toldPhone(ctx, tx, p.Player, events[i], d.step)
				if err != nil {
					return err
				}
			}
		}
		return notice.Notify(ctx, tx, events)
	}
	_, err = s.changePlayer(ctx, tx, p, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.EndGuardianAlone(op), nil
	})
	return err
}

// toldPhone reports whether the phone of a party was told of a step of this child before, and notes
// that it is. A phone may be of both parties, and several coaches may have the child.
func (s *Service) toldPhone(ctx context.Context, tx *store.Tx, p *approval.Player, e event.Event, step approval.AdultStep) (bool, error) {
	number := tx.DB().NumberHash(p.Find(e.Party, e.GuardianID).Number)
	key := sha256.Sum256(fmt.Appendf(nil, "%x\n%s\n%s\n%s", number, step, p.Identity().NameKey, p.Student.DateOfBirth))
	n, err := tx.Exec(ctx, `INSERT INTO told_phones (hash, told_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`, key[:], database.Micros(tx.Now))
	return n == 0, fault.Wrap(err, "note that a phone was told")
}
