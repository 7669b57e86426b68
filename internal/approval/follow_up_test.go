package approval_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// TestFollowUps: a call, a reminder, a resend and a cancellation by the coach follow up on a
// request; a dispute, a decision and the lifting of a dispute do not.
func TestFollowUps(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	noTest := func(phone.Number) bool { return false }
	rules := approval.Rules{
		RemindersPerWindow: 2, DefaultChannels: []message.Channel{"in_app"}, TestNumber: noTest,
		Routes: map[message.Channel]message.Route{"in_app": message.RouteInApp},
	}
	coach := actor.Actor{AccountID: "coach", Role: actor.Coach}
	guardian := actor.Actor{AccountID: "guardian", Role: actor.Guardian}
	op := approval.Operation{Now: now, NewID: uuid.NewString}
	for name, tt := range map[string]struct {
		change   func(p *approval.Player) error
		followed bool
	}{
		"call": {func(p *approval.Player) error { _, err := p.FollowUp(coach, "request", "", op); return err }, true},
		"reminder": {func(p *approval.Player) error {
			_, _, err := p.Remind(coach, actor.Guardian, "", rules, op)
			return err
		}, true},
		"resend": {func(p *approval.Player) error {
			_, _, err := p.Send(coach, actor.Guardian, approval.Patch{}, nil, rules, op)
			return err
		}, true},
		"cancel": {func(p *approval.Player) error { _, err := p.Cancel(coach, "request", op); return err }, true},
		"dispute": {func(p *approval.Player) error {
			_, err := p.Dispute(guardian, "request", approval.Wording{}, op)
			return err
		}, false},
		"lifted dispute": {func(p *approval.Player) error {
			p.Party(actor.Guardian).Request.State = approval.RequestDisputed
			_, err := p.Lift(guardian, "request", op)
			return err
		}, false},
		"decision": {func(p *approval.Player) error {
			_, err := p.Decide(guardian, actor.Guardian, approval.Decision{Action: approval.Approve}, op)
			return err
		}, false},
	} {
		p := &approval.Player{CoachID: coach.AccountID}
		p.Party(actor.Guardian).Person = approval.Person{Name: "Meera", Relationship: "mother", Number: "+919800000001"}
		p.Party(actor.Guardian).AccountID, p.Party(actor.Guardian).Consent.State = guardian.AccountID, approval.Pending
		p.Party(actor.Student).Consent.State = approval.Pending
		p.Party(actor.Guardian).Request = &approval.Request{
			ID: "request", Party: actor.Guardian, PartyID: guardian.AccountID, State: approval.RequestPending,
			Channels: rules.DefaultChannels, RequestedAt: now.Add(-time.Hour), LastSentAt: now.Add(-time.Hour),
		}
		if err := tt.change(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if at := p.Party(actor.Guardian).Request.FollowedUpAt; at.IsZero() == tt.followed || tt.followed && !at.Equal(now) {
			t.Errorf("%s: followed up at %s, want a follow-up: %t", name, at, tt.followed)
		}
	}
}
