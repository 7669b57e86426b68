package approval_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

func TestLiftOutdated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		state          approval.RequestState
		coachClosed    bool
		lifted, notify bool
	}{
		{approval.RequestDisputed, false, true, true},
		{approval.RequestDisputed, true, true, false},
		{approval.RequestCancelled, false, false, false},
		{approval.RequestCancelled, true, false, false},
	} {
		lifted, events := new(approval.Player).LiftOutdated(new(approval.Player).Party(actor.Guardian), tt.state, tt.coachClosed)
		if lifted != tt.lifted || len(events) == 1 != tt.notify {
			t.Errorf("%s, coach closed %t: lifted %t, events %+v", tt.state, tt.coachClosed, lifted, events)
		}
	}
}

// TestClockBehindAtDecision: a decision that a replica with a slower clock takes is later in the history than those before it.
func TestClockBehindAtDecision(t *testing.T) {
	t.Parallel()
	last := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, before := range []actor.Role{actor.Guardian, actor.Student} {
		guardian := actor.Actor{AccountID: "guardian", Role: actor.Guardian}
		p := new(approval.Player)
		p.Party(actor.Guardian).AccountID = guardian.AccountID
		p.Party(actor.Guardian).Consent = approval.Consent{State: approval.Approved, PendingSince: last.Add(-time.Hour), ChangedAt: last.Add(-time.Hour)}
		p.Party(before).Consent.ChangedAt = last
		op := approval.Operation{Now: last.Add(-time.Minute), NewID: uuid.NewString}
		c, err := p.Decide(guardian, actor.Guardian, approval.Decision{Action: approval.Revoke}, op)
		if err != nil || c.History == nil || !c.History.At.After(last) {
			t.Errorf("after a decision of the %s at %s: %+v, %v", before, last, c.History, err)
		}
	}
}
