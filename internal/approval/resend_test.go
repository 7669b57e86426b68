package approval_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// TestResendByChannel checks on which channels an open request is sent again within
// ResendAfter. The first sending used in_app, sms and email.
func TestResendByChannel(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	noTest := func(phone.Number) bool { return false }
	rules := approval.Rules{
		ResendAfter: 48 * time.Hour, TestNumber: noTest,
		Routes: map[message.Channel]message.Route{
			"in_app": message.RouteInApp, "sms": message.RouteToNumber(func(phone.Number) bool { return true }, noTest),
			"email": message.RouteToEmail(noTest), "other": message.RouteToEmail(noTest),
		},
		DefaultChannels: []message.Channel{"in_app", "sms", "email"},
	}
	coach := actor.Actor{AccountID: "coach", Role: actor.Coach}
	type channels = []message.Channel
	for name, tt := range map[string]struct {
		failed   channels
		after    time.Duration
		channels channels
		email    string // the corrected one, or empty
		sent     string // channels of the second sending; "" is request_pending
		uses     string // channels of the request from then on
		left     string // channels that still count as failed
	}{
		"nothing failed":                 {nil, time.Hour, nil, "", "", "", ""},
		"the wait is over":               {nil, 48 * time.Hour, nil, "", "[in_app sms email]", "[in_app sms email]", "[]"},
		"mail failed":                    {channels{"email"}, time.Hour, nil, "", "[in_app email]", "[in_app sms email]", "[]"},
		"mail failed, only SMS again":    {channels{"email"}, time.Hour, channels{"sms"}, "", "", "", ""},
		"mail failed, both again":        {channels{"email"}, time.Hour, channels{"sms", "email"}, "", "[email]", "[sms email]", "[]"},
		"mail failed, another way":       {channels{"email"}, time.Hour, channels{"other"}, "", "[other]", "[other]", "[email]"},
		"both failed":                    {channels{"sms", "email"}, time.Hour, nil, "", "[in_app sms email]", "[in_app sms email]", "[]"},
		"both failed, mail again":        {channels{"sms", "email"}, time.Hour, channels{"email"}, "", "[email]", "[email]", "[sms]"},
		"address corrected":              {nil, time.Hour, nil, "new@families.example", "[in_app email]", "[in_app sms email]", "[]"},
		"address corrected, SMS":         {nil, time.Hour, channels{"sms"}, "new@families.example", "", "", ""},
		"another channel without a need": {nil, time.Hour, channels{"other"}, "", "", "", ""},
	} {
		p := &approval.Player{
			ID: "player", CoachID: coach.AccountID, Student: approval.Child{FullName: "Asha Rao"},
		}
		*p.Party(actor.Guardian) = approval.Party{Role: actor.Guardian, Person: approval.Person{Name: "Meera", Relationship: "mother", Number: "+919800000001", Email: "meera@families.example"}, AccountID: "guardian", Consent: approval.Consent{State: approval.Pending}, Request: &approval.Request{
			ID: "request", State: approval.RequestPending, Channels: rules.DefaultChannels, RequestedAt: now, LastSentAt: now, FailedChannels: tt.failed,
		}}
		patch := approval.Patch{}
		if tt.email != "" {
			patch.Guardian = &approval.GuardianPatch{Email: &tt.email}
		}
		op := approval.Operation{Now: now.Add(tt.after), NewID: uuid.NewString}
		c, created, err := p.Send(coach, actor.Guardian, patch, tt.channels, rules, op)
		if tt.sent == "" {
			if fault.CodeOf(err) != "request_pending" {
				t.Errorf("%s: got %v, want request_pending", name, err)
			}
			continue
		}
		var sent channels
		for _, m := range c.Send {
			sent = append(sent, m.Channel)
		}
		r := p.Party(actor.Guardian).Request
		if err != nil || created || fmt.Sprint(sent) != tt.sent || fmt.Sprint(r.Channels) != tt.uses || fmt.Sprint(r.FailedChannels) != tt.left {
			t.Errorf("%s: sent %v, uses %v, failed %v, %v; want %s, %s, %s", name, sent, r.Channels, r.FailedChannels, err, tt.sent, tt.uses, tt.left)
		}
	}
}

// A channel on which the party has no address is not a default, and is refused if the coach
// names it.
func TestChannelsWithoutAddress(t *testing.T) {
	noTest := func(phone.Number) bool { return false }
	rules := approval.Rules{
		TestNumber: noTest,
		Routes: map[message.Channel]message.Route{
			"in_app": message.RouteInApp, "sms": message.RouteToNumber(func(phone.Number) bool { return true }, noTest), "email": message.RouteToEmail(noTest),
		},
		DefaultChannels: []message.Channel{"in_app", "sms", "email"},
	}
	coach := actor.Actor{AccountID: "coach", Role: actor.Coach}
	NewPlayer := func(email string) *approval.Player {
		p := &approval.Player{CoachID: coach.AccountID}
		p.Party(actor.Guardian).Person = approval.Person{Name: "Meera", Relationship: "mother", Number: "+919800000001", Email: email}
		p.Party(actor.Guardian).Consent.State = approval.Pending
		p.Party(actor.Student).Consent.State = approval.Pending
		p.Party(actor.Student).Number = "+919800000002"
		return p
	}
	for _, tt := range []struct {
		email    string
		party    actor.Role
		channels []message.Channel
		want     string // the channels of the request, or the code of the error
	}{
		{"", actor.Guardian, nil, "[in_app sms]"},
		{"meera@families.example", actor.Guardian, nil, "[in_app sms email]"},
		{"meera@families.example", actor.Student, nil, "[in_app sms]"},
		{"meera@families.example", actor.Guardian, []message.Channel{"email"}, "[email]"},
		{"", actor.Guardian, []message.Channel{"sms", "email"}, "validation_failed"},
		{"meera@families.example", actor.Student, []message.Channel{"email"}, "validation_failed"},
	} {
		p := NewPlayer(tt.email)
		_, _, err := p.Send(coach, tt.party, approval.Patch{}, tt.channels, rules, approval.Operation{Now: time.Now(), NewID: uuid.NewString})
		got := fault.CodeOf(err)
		if r := p.Party(tt.party).Request; err == nil && r != nil {
			got = fmt.Sprint(r.Channels)
		}
		if got != tt.want {
			t.Errorf("%s, address %q, channels %v: got %s, want %s", tt.party, tt.email, tt.channels, got, tt.want)
		}
	}
}
