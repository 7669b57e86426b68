package approval

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// adultRecheck is how soon a step that is due by UTC, but not yet in the coach's zone, is looked at again.
const adultRecheck = time.Hour

// EndGuardianView removes a guardian of a player, or all if guardianID is empty, for the calling student, who is an adult.
func (s *Service) EndGuardianView(ctx context.Context, by actor.Actor, id, guardianID string) (*Player, error) {
	return s.update(ctx, id, loadOptions{}, func(p *Player, op Operation) (Change, error) { return p.EndGuardianView(by, guardianID, op) })
}

// dueAdult is a player with a due AdultStep.
type dueAdult struct {
	id   string
	step AdultStep
	at   time.Time
	born Date
	zone string
}

// TurnAdults carries out the due steps of up to n students who become adults, and returns how many
// it found. Each one is in a transaction that guards its step, so that only one replica does it.
func (s *Service) TurnAdults(ctx context.Context, n int) (int, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT p.id, p.adult_step, p.adult_step_at, p.date_of_birth, c.time_zone
		FROM players p LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.adult_step_at <= $1 AND p.deleted_at IS NULL ORDER BY p.adult_step_at, p.id LIMIT $2`, database.Micros(s.Now()), n)
	due, err := database.Collect(rs, err, func(row database.Scanner) (d dueAdult, err error) {
		var born string
		if err = row.Scan(&d.id, &d.step, database.IntoTime(&d.at), &born, database.IntoText(&d.zone)); err == nil {
			d.born, err = ParseDate(born)
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
	next, at, done := d.next(tx.Now, zone)
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
	if d.step != GuardianAlone {
		events := p.adultEvents(d.step, tx.Now, zone)
		for i := range events {
			if events[i].Party != "" && events[i].PartyID != "" {
				if events[i].AppOnly, err = s.toldPhone(ctx, tx, p.Player, events[i], d.step); err != nil {
					return err
				}
			}
		}
		return notice.Notify(ctx, tx, events)
	}
	return s.changePlayer(ctx, tx, p, loadOptions{}, func(p *Player) (Change, error) {
		before := p.ConsentStatus()
		op := s.operation()
		c := p.endGuardianAlone(op)
		if c.Save {
			c.StatusChanges = p.statusChanges(before, s.Rules, op.Now)
		}
		return c, nil
	})
}

// next returns the step after d, when it is due, and whether d itself is due now. If it is not, the
// step stays. A late TurningSoon is left out once its successor is due.
func (d dueAdult) next(now time.Time, zone *time.Location) (step AdultStep, at time.Time, due bool) {
	switch d.step {
	case TurningSoon, Turned:
		if start := d.born.adultStepAt(d.step, zone); start.After(now) {
			if recheck := now.Add(adultRecheck); recheck.Before(start) {
				start = recheck
			}
			return d.step, start, false
		}
	}
	switch d.step {
	case TurningSoon:
		turned := d.born.stepDay(Turned).in(time.UTC, 0)
		return Turned, turned, turned.After(now)
	case Turned:
		return GuardianAlone, now.Add(adultGrace), true
	}
	return "", time.Time{}, true
}

// toldPhone reports whether the phone of a party was told of a step of this child before, and notes
// that it is. A phone may be of both parties, and several coaches may have the child.
func (s *Service) toldPhone(ctx context.Context, tx *store.Tx, p *Player, e event.Event, step AdultStep) (bool, error) {
	number := tx.DB().NumberHash(p.Find(e.Party, e.GuardianID).Number)
	key := sha256.Sum256(fmt.Appendf(nil, "%x\n%s\n%s\n%s", number, step, p.Identity().NameKey, p.Student.DateOfBirth))
	n, err := tx.Exec(ctx, `INSERT INTO told_phones (hash, told_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`, key[:], database.Micros(tx.Now))
	if err != nil {
		return false, fmt.Errorf("note that a phone was told: %w", err)
	}
	return n == 0, nil
}
