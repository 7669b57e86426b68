package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// maxTimeline is the number of requests in a Timeline.
const maxTimeline = 50

// Timeline is all that its coach sees of one player.
type Timeline struct {
	// Player has the newest request of each party with its deliveries, and the reminders
	// within the window.
	Player *Player
	// History are the decisions, oldest first.
	History []Record
	// Requests are the newest maxTimeline requests of both parties with their deliveries
	// and follow-ups, newest first.
	Requests []*Request
}

// RemindersLeft returns how many reminders the coach may send to a party now.
func (t *Timeline) RemindersLeft(a *Party, rules Rules) int {
	return max(0, rules.RemindersPerWindow-len(a.Reminders))
}

// reminderPause is how long the coach's pages wait after a message to a party before they offer a
// reminder. The API does not wait.
const reminderPause = 24 * time.Hour

// NextReminder returns when the coach's pages offer a reminder to a party with an open request: after
// reminderPause, and when the limit on reminders allows one.
func (t *Timeline) NextReminder(approver *Party, rules Rules) time.Time {
	at := approver.Request.LastSentAt.Add(reminderPause)
	if n := len(approver.Reminders); n > 0 {
		at = latest(at, approver.Reminders[n-1].Add(reminderPause))
		if first := n - rules.RemindersPerWindow; first >= 0 {
			at = latest(at, approver.Reminders[first].Add(rules.ReminderWindow))
		}
	}
	return at
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// EditEffect is the effect of an edit on the consents of a player.
type EditEffect struct {
	// Ended are the parties whose approval would end, Asked those that would get a new
	// request.
	Ended, Asked []NamedParty
}

// NamedParty is a party. It has the first name of one of several guardians, else no name.
type NamedParty struct {
	Role actor.Role
	Name string
}

func (p *Player) named(a *Party) NamedParty {
	n := NamedParty{Role: a.Role}
	if a.Role == actor.Guardian && len(p.Guardians()) > 1 {
		n.Name = a.FirstName()
	}
	return n
}

// Any reports whether the edit would change a consent or ask a party.
func (e EditEffect) Any() bool { return len(e.Ended)+len(e.Asked) > 0 }

// PreviewEdit returns the effect of Edit on the consents, or its error. It saves nothing.
func (s *Service) PreviewEdit(ctx context.Context, by actor.Actor, id string, patch Patch) (EditEffect, error) {
	var effect EditEffect
	_, err := s.update(ctx, id, loadOptions{Disputes: true, Medical: patch.Student.Medical != nil}, func(p *Player, op Operation) (Change, error) {
		effect = EditEffect{}
		before := p.Copy()
		c, err := p.Edit(by, patch, s.Rules, op)
		if err != nil {
			return Change{}, err
		}
		for i := range p.Parties {
			a := &p.Parties[i]
			if was := before.Find(a.Role, a.GuardianID); was != nil && was.Consent.State == Approved && a.Consent.State != Approved {
				effect.Ended = append(effect.Ended, p.named(a))
			}
		}
		for _, r := range c.Opened {
			effect.Asked = append(effect.Asked, p.named(p.Asked(r)))
		}
		return Change{}, nil
	})
	return effect, err
}

// RemindAfter is Remind, but does nothing if the party got a reminder after last, so that
// a form that is sent twice sends one reminder. It reports whether it sent one.
func (s *Service) RemindAfter(ctx context.Context, by actor.Actor, id string, party actor.Role, guardianID string, last time.Time) (bool, error) {
	sent := false
	load := loadOptions{RemindersSince: s.operation().Now.Add(-s.Rules.ReminderWindow)}
	_, err := s.update(ctx, id, load, func(p *Player, op Operation) (Change, error) {
		sent = false
		if err := p.ownedBy(by); err != nil {
			return Change{}, err
		}
		a, err := p.find(party, guardianID)
		if err != nil {
			return Change{}, err
		}
		if all := a.Reminders; len(all) > 0 && all[len(all)-1].After(last) {
			return Change{}, nil
		}
		c, _, err := p.Remind(by, party, guardianID, s.Rules, op)
		sent = err == nil
		return c, err
	})
	return sent, err
}

// Timeline returns the timeline of a player of the calling coach over one state of the database, or
// not_found.
func (s *Service) Timeline(ctx context.Context, by actor.Actor, id string) (t *Timeline, err error) {
	if by.Role != actor.Coach {
		return nil, fault.Missing()
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		p, err := s.visiblePlayer(ctx, tx, by, id)
		if err != nil {
			return err
		}
		t = &Timeline{Player: p}
		if t.History, err = readHistory(ctx, tx, id); err != nil {
			return fmt.Errorf("read history: %w", err)
		}
		if err := loadReminders(ctx, tx, p, s.operation().Now.Add(-s.Rules.ReminderWindow)); err != nil {
			return err
		}
		if t.Requests, err = requestsOf(ctx, tx, p, maxTimeline); err != nil {
			return fmt.Errorf("read requests of player %s: %w", id, err)
		}
		for _, r := range t.Requests {
			if a := p.Asked(r); a != nil && a.Request != nil && a.Request.ID == r.ID {
				a.Request = r
			}
		}
		if err := s.loadCallFacts(ctx, tx, p, s.Now()); err != nil {
			return err
		}
		return loadDeliveries(ctx, tx, t.Requests)
	})
	if err == nil {
		err = s.openShown(t.History)
	}
	return t, err
}

// requestsOf lists the requests about a player, newest first. The caller must have checked
// access to the player.
func requestsOf(ctx context.Context, q database.Querier, p *Player, limit int) ([]*Request, error) {
	rs, err := q.Query(ctx, `
		SELECT id, approver_id, state, channels, requested_at, last_sent_at, delivery_failed, failed_channels, closed_at, short_code, via, version, sent_version,
			approver_type, guardian_id, followed_up_at, follow_up_note
		FROM requests WHERE player_id = $1 AND coach_id = $2 ORDER BY id DESC LIMIT $3`, p.ID, p.CoachID, limit)
	return database.Collect(rs, err, func(s database.Scanner) (*Request, error) {
		var c requestColumns
		var party actor.Role
		var guardianID string
		var followedUp time.Time
		var note string
		err := s.Scan(append(c.dest(), &party, &guardianID, database.IntoTime(&followedUp), database.IntoText(&note))...)
		r := c.request(p, party, guardianID)
		if r != nil {
			r.FollowedUpAt, r.FollowUpNote = followedUp, note
		}
		return r, err
	})
}
