package approval_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// fakeStore keeps one player in memory and carries out the operations of approval.Service on it, so
// that a property test can run thousands of sequences. It returns an error if a change breaks an
// invariant.
type fakeStore struct {
	rules approval.Rules
	now   func() time.Time
	ids   int

	player    *approval.Player
	requests  map[string]approval.Request
	history   []approval.Record
	reminders map[actor.Role][]time.Time
	disputes  map[approval.Contact]bool
}

func newFakeStore(rules approval.Rules, now func() time.Time) *fakeStore {
	return &fakeStore{
		rules: rules, now: now, requests: map[string]approval.Request{},
		reminders: map[actor.Role][]time.Time{}, disputes: map[approval.Contact]bool{},
	}
}

func (s *fakeStore) operation() approval.Operation {
	return approval.Operation{Now: s.now(), NewID: func() string { s.ids++; return fmt.Sprintf("id-%06d", s.ids) }}
}

func (s *fakeStore) Add(by actor.Actor, student approval.Student, guardian *approval.Person) (*approval.Player, error) {
	p, first, err := approval.AddPlayer(by, student, guardian, s.rules, s.operation())
	if err != nil {
		return nil, err
	}
	s.assignAccounts(p)
	c, err := first(approval.Roster{Players: 1})
	if err != nil {
		return nil, err
	}
	return p, s.save(p, c)
}

// update runs fn on the player with all that Service can load.
func (s *fakeStore) update(fn func(*approval.Player, approval.Operation) (approval.Change, error)) (*approval.Player, error) {
	p := s.copy()
	p.Disputes, p.History = slices.Collect(maps.Keys(s.disputes)), slices.Clone(s.history)
	for _, party := range approval.Parties {
		for _, at := range s.reminders[party] {
			if at.After(s.now().Add(-s.rules.ReminderWindow)) {
				p.Party(party).Reminders = append(p.Party(party).Reminders, at)
			}
		}
	}
	c, err := fn(p, s.operation())
	if err != nil || !c.Save {
		return p, err
	}
	s.assignAccounts(p)
	return p, s.save(p, c)
}

// updateRequest runs fn on the player if by may see the request, and returns the request.
func (s *fakeStore) updateRequest(by actor.Actor, id string, fn func(*approval.Player, approval.Operation) (approval.Change, error)) error {
	r, exists := s.requests[id]
	if p := s.copy(); !exists || !p.VisibleTo(by) || by.Role != actor.Coach && (r.Party != by.Role || r.PartyID != by.AccountID) {
		return fault.Missing()
	}
	_, err := s.update(fn)
	return err
}

func (s *fakeStore) Decide(by actor.Actor, d approval.Decision) error {
	_, err := s.update(func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.Decide(by, by.Role, d, op)
	})
	return err
}

func (s *fakeStore) Send(by actor.Actor, party actor.Role, correction approval.Patch) (r *approval.Request, created bool, err error) {
	p, err := s.update(func(p *approval.Player, op approval.Operation) (c approval.Change, err error) {
		c, created, err = p.Send(by, party, correction, nil, s.rules, op)
		return c, err
	})
	return p.Party(party).Request, created, err
}

func (s *fakeStore) Remind(by actor.Actor, party actor.Role) (left int, err error) {
	_, err = s.update(func(p *approval.Player, op approval.Operation) (c approval.Change, err error) {
		c, left, err = p.Remind(by, party, "", s.rules, op)
		return c, err
	})
	return left, err
}

func (s *fakeStore) Cancel(by actor.Actor, id string) error {
	return s.updateRequest(by, id, func(p *approval.Player, op approval.Operation) (approval.Change, error) { return p.Cancel(by, id, op) })
}

func (s *fakeStore) Dispute(by actor.Actor, id string) error {
	return s.updateRequest(by, id, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.Dispute(by, id, approval.Wording{}, op)
	})
}

// Lift lifts no dispute of a request that by no longer sees: in the model every party that disputed
// still sees the request.
func (s *fakeStore) Lift(by actor.Actor, id string) error {
	return s.updateRequest(by, id, func(p *approval.Player, op approval.Operation) (approval.Change, error) { return p.Lift(by, id, op) })
}

func (s *fakeStore) Edit(by actor.Actor, patch approval.Patch) (*approval.Player, error) {
	return s.update(func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.Edit(by, patch, s.rules, op)
	})
}

func (s *fakeStore) Remove(by actor.Actor) error {
	_, err := s.update(func(p *approval.Player, op approval.Operation) (approval.Change, error) { return p.Remove(by, op) })
	return err
}

func (s *fakeStore) EndGuardianView(by actor.Actor) error {
	_, err := s.update(func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.EndGuardianView(by, "", op)
	})
	return err
}

// EndGuardianAlone ends the guardian's approval if it rests on the guardian alone.
func (s *fakeStore) EndGuardianAlone() {
	_, _ = s.update(func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		if !p.DeletedAt.IsZero() {
			return approval.Change{}, nil
		}
		return p.EndGuardianAlone(op), nil
	})
}

// EndProof ends the guardian's approval, whose proof ended.
func (s *fakeStore) EndProof() {
	_, _ = s.update(func(p *approval.Player, op approval.Operation) (c approval.Change, _ error) {
		if a := p.Party(actor.Guardian); p.DeletedAt.IsZero() && a.Consent.State == approval.Approved {
			p.EndApproval(a, p.NewEvent(event.ProofEnded, a), op, &c)
		}
		return c, nil
	})
}

// assignAccounts gives every number an account.
func (s *fakeStore) assignAccounts(p *approval.Player) {
	for _, party := range approval.Parties {
		approver := p.Party(party)
		if n := p.Number(party); approver.AccountID == "" && n != "" {
			approver.AccountID = account(party, n)
		}
	}
}

// save saves a change unless it breaks an invariant.
func (s *fakeStore) save(p *approval.Player, c approval.Change) error {
	for _, r := range c.Closed {
		if old := s.requests[r.ID].State; r.State == approval.RequestPending || old != approval.RequestPending && old != approval.RequestDisputed {
			return fmt.Errorf("request %s changes from %s to %s", r.ID, old, r.State)
		}
		s.requests[r.ID] = *r
	}
	if r := c.Ended; r != nil {
		if old := s.requests[r.ID]; old.State != approval.RequestApproved || r.Version != old.Version+1 {
			return fmt.Errorf("the yes to request %+v ended: %+v", old, r)
		}
		s.requests[r.ID] = *r
	}
	if r := c.Reopened; r != nil {
		if s.requests[r.ID].State != approval.RequestDisputed || r.State != approval.RequestPending {
			return fmt.Errorf("request %+v is reopened", r)
		}
		s.requests[r.ID] = *r
	}
	for _, r := range c.Resent {
		if s.requests[r.ID].State != approval.RequestPending {
			return fmt.Errorf("closed request is resent: %+v", r)
		}
		s.requests[r.ID] = *r
	}
	for _, r := range c.Opened {
		if _, exists := s.requests[r.ID]; exists || r.State != approval.RequestPending {
			return fmt.Errorf("invalid new request %+v", r)
		}
		r.PartyID = p.Party(r.Party).AccountID
		s.requests[r.ID] = *r
	}
	for _, m := range c.Send {
		number := p.Number(m.Request.Party)
		if m.Request.State != approval.RequestPending || number == "" || m.Channel == "sms" && m.Address != string(number) {
			return fmt.Errorf("invalid message %+v for %+v", m, m.Request)
		}
	}
	if c.History != nil {
		s.history = append(s.history, *c.History)
	}
	if r := c.Reminded; r != nil {
		s.reminders[r.Party] = append(s.reminders[r.Party], s.now())
	}
	if r := c.Dispute; r != nil {
		s.disputes[approval.Contact{Party: r.Party, Number: p.Number(r.Party)}] = true
	}
	if r := c.Lift; r != nil {
		delete(s.disputes, approval.Contact{Party: r.Party, Number: p.Number(r.Party)})
	}
	open := map[actor.Role]int{}
	for _, r := range s.requests {
		if r.State == approval.RequestPending {
			if open[r.Party]++; open[r.Party] > 1 {
				return fmt.Errorf("two open requests to the %s", r.Party)
			}
			if approver := p.Party(r.Party); approver.Consent.State != approval.Pending || approver.Request == nil || approver.Request.ID != r.ID || approver.AccountID != r.PartyID {
				return fmt.Errorf("open request %+v does not match %+v", r, approver)
			}
		}
	}
	s.player = p
	return nil
}

// copy returns a copy of the player with its newest requests.
func (s *fakeStore) copy() *approval.Player {
	p := s.player.Copy()
	p.Disputes, p.History = nil, nil
	for _, party := range approval.Parties {
		approver := p.Party(party)
		approver.Reminders = nil
		if approver.Request != nil {
			r := s.requests[approver.Request.ID]
			approver.Request = &r
		}
	}
	return p
}
