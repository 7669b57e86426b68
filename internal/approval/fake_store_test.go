package approval_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// fakeStore keeps one player in memory, so that a property test can run thousands
// of sequences. It returns an error if a change breaks an invariant.
type fakeStore struct {
	approval.Store // the other methods are not used
	now            func() time.Time

	player    *approval.Player
	requests  map[string]approval.Request
	history   []approval.Record
	reminders map[actor.Role][]time.Time
	disputes  map[approval.Contact]bool
}

func newFakeStore(now func() time.Time) *fakeStore {
	return &fakeStore{
		now: now, requests: map[string]approval.Request{},
		reminders: map[actor.Role][]time.Time{}, disputes: map[approval.Contact]bool{},
	}
}

func (s *fakeStore) AddPlayer(_ context.Context, p *approval.Player, first func(approval.Roster) (approval.Change, error)) error {
	s.assignAccounts(p)
	c, err := first(approval.Roster{Players: 1})
	if err != nil {
		return err
	}
	return s.save(p, c)
}

func (s *fakeStore) UpdatePlayer(_ context.Context, _ string, load approval.LoadOptions, fn func(*approval.Player) (approval.Change, error)) error {
	p := s.copy()
	if load.Disputes {
		p.Disputes = slices.Collect(maps.Keys(s.disputes))
	}
	if load.History {
		p.History = slices.Clone(s.history)
	}
	for _, party := range approval.Parties {
		for _, at := range s.reminders[party] {
			if !load.RemindersSince.IsZero() && at.After(load.RemindersSince) {
				p.Approver(party).Reminders = append(p.Approver(party).Reminders, at)
			}
		}
	}
	c, err := fn(p)
	if err != nil || !c.Save {
		return err
	}
	s.assignAccounts(p)
	return s.save(p, c)
}

// PlayerStatus returns the player with its decisions.
func (s *fakeStore) PlayerStatus(ctx context.Context, by actor.Actor, id string) (*approval.Player, []approval.Record, error) {
	p, err := s.Player(ctx, by, id)
	return p, slices.Clone(s.history), err
}

// LoadDeliveries does nothing: the fake has no deliveries.
func (s *fakeStore) LoadDeliveries(context.Context, ...*approval.Request) error { return nil }

// LiftDispute finds nothing: in the model every party that disputed still sees the request.
func (s *fakeStore) LiftDispute(context.Context, *actor.Operator, string, string, *time.Time) error {
	return fault.Missing()
}

// assignAccounts gives every number an account.
func (s *fakeStore) assignAccounts(p *approval.Player) {
	for _, party := range approval.Parties {
		approver := p.Approver(party)
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
		r.PartyID = p.Approver(r.Party).AccountID
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
	if c.Reminded != "" {
		s.reminders[c.Reminded] = append(s.reminders[c.Reminded], s.now())
	}
	if r := c.Dispute; r != nil {
		s.disputes[approval.Contact{Party: r.Party, Number: p.Number(r.Party)}] = true
	}
	if c.Lift != "" {
		delete(s.disputes, approval.Contact{Party: c.Lift, Number: p.Number(c.Lift)})
	}
	open := map[actor.Role]int{}
	for _, r := range s.requests {
		if r.State == approval.RequestPending {
			if open[r.Party]++; open[r.Party] > 1 {
				return fmt.Errorf("two open requests to the %s", r.Party)
			}
			if approver := p.Approver(r.Party); approver.Consent.State != approval.Pending || approver.Request == nil || approver.Request.ID != r.ID || approver.AccountID != r.PartyID {
				return fmt.Errorf("open request %+v does not match %+v", r, approver)
			}
		}
	}
	s.player = p
	return nil
}

// copy returns a copy of the player with its newest requests.
func (s *fakeStore) copy() *approval.Player {
	p := *s.player
	if p.Guardian != nil {
		g := *p.Guardian
		p.Guardian = &g
	}
	p.Disputes, p.History = nil, nil
	for _, party := range approval.Parties {
		approver := p.Approver(party)
		approver.Reminders = nil
		if approver.Request != nil {
			r := s.requests[approver.Request.ID]
			approver.Request = &r
		}
	}
	return &p
}

func (s *fakeStore) Player(_ context.Context, by actor.Actor, _ string) (*approval.Player, error) {
	if p := s.copy(); p.VisibleTo(by) {
		return p, nil
	}
	return nil, fault.Missing()
}

func (s *fakeStore) Request(_ context.Context, by actor.Actor, id string) (*approval.Request, error) {
	r, exists := s.requests[id]
	p := s.copy()
	if !exists || !p.VisibleTo(by) || by.Role != actor.Coach && (r.Party != by.Role || r.PartyID != by.AccountID) {
		return nil, fault.Missing()
	}
	return &r, nil
}
