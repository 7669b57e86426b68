package approval_test

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

type machineTest struct {
	*rapid.T
	model
	store *fakeStore
	now   time.Time
	coach actor.Actor
	old   []string // requests that are no longer the newest
}

func noTestNumber(phone.Number) bool { return false }

func account(party actor.Role, n phone.Number) string { return string(party) + string(n) }

// drawBirth draws the birth date of an adult, of a child, or of a student who becomes an adult soon.
func drawBirth(t *rapid.T) approval.Date {
	return rapid.SampledFrom([]approval.Date{{Year: 2000, Month: 1, Day: 1}, {Year: 2015, Month: 1, Day: 1}, {Year: 2008, Month: 3, Day: 20}}).Draw(t, "birth date")
}

var numbers = []phone.Number{"+919800000001", "+919800000002", "+919800000003"}

func newMachineTest(t *rapid.T) *machineTest {
	r := &machineTest{T: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), coach: actor.Actor{AccountID: "coach", Role: actor.Coach, Number: "+919800000000"}}
	rules := approval.Rules{
		ResendAfter: 48 * time.Hour, RemindersPerWindow: 2, ReminderWindow: 7 * 24 * time.Hour,
		Routes: map[message.Channel]message.Route{
			"in_app": message.RouteInApp,
			"sms":    message.RouteToNumber(func(phone.Number) bool { return true }, noTestNumber),
		},
		DefaultChannels: []message.Channel{"in_app", "sms"},
		TestNumber:      noTestNumber,
	}
	r.store = newFakeStore(rules, func() time.Time { return r.now })
	r.born = drawBirth(t)
	r.approvers = map[actor.Role]*modelApprover{}
	for _, party := range approval.Parties {
		r.approvers[party] = &modelApprover{state: "pending", requestState: "none", disputed: map[phone.Number]bool{}, pendingSince: r.now}
	}
	student := approval.Student{FullName: "Child 0", DateOfBirth: r.born}
	var guardian *approval.Person
	if !r.born.IsAdult(r.now) || rapid.Bool().Draw(t, "guardian") {
		guardian = &approval.Person{Name: "Meera", Relationship: "mother", Number: r.draw("guardian's")}
		r.approvers[actor.Guardian].send(guardian.Number, r.now)
	}
	if rapid.Bool().Draw(t, "student") {
		student.Number = r.draw("student's")
		r.approvers[actor.Student].send(student.Number, r.now)
	}
	p, err := r.store.Add(r.coach, student, guardian)
	if err != nil {
		t.Fatal(err)
	}
	for party, a := range r.approvers {
		if a.requestState == "open" {
			a.requestID = p.Party(party).Request.ID
		}
	}
	return r
}

func (r *machineTest) draw(what string) phone.Number {
	return rapid.SampledFrom(numbers).Draw(r.T, what+" number")
}

func (r *machineTest) party() (actor.Role, *modelApprover) {
	party := rapid.SampledFrom(approval.Parties).Draw(r.T, "party")
	return party, r.approvers[party]
}

func (r *machineTest) recipient(party actor.Role) actor.Actor {
	n := r.approvers[party].number
	if n == "" {
		return actor.Actor{Role: party, AccountID: "unknown"}
	}
	return actor.Actor{Role: party, AccountID: account(party, n), Number: n}
}

// drawRequest draws the request id of a call: none, the newest, an older or an unknown one.
func (r *machineTest) drawRequest(a *modelApprover) string {
	return rapid.SampledFrom(append([]string{"", a.requestID, "unknown"}, r.old...)).Draw(r.T, "request")
}

// expect compares an error code with the model's.
func (r *machineTest) expect(err error, want string) {
	if err != nil && fault.CodeOf(err) == "" {
		r.Fatalf("unexpected internal error: %v", err)
	}
	if got := fault.CodeOf(err); got != want {
		r.Fatalf("got code %q (%v), want %q", got, err, want)
	}
}

// check compares the whole visible state with the model.
func (r *machineTest) check(*rapid.T) {
	p := r.store.copy()
	history := map[actor.Role][]string{}
	for _, record := range r.store.history {
		history[record.Party] = append(history[record.Party], string(record.Action))
	}
	services := p.ConsentStatus().Availability(approval.Rules{}, r.now)
	on := map[actor.Role]bool{actor.Guardian: services.GuardianApp, actor.Student: services.StudentApp}
	for party, a := range r.approvers {
		approver := p.Party(party)
		if string(approver.Consent.State) != a.state || (approver.OpenRequest() != nil) != (a.requestState == "open") || p.Number(party) != a.number {
			r.Fatalf("%s: %+v at %s, request %+v; want %+v", party, approver.Consent, p.Number(party), approver.Request, a)
		}
		if approver.Request != nil && approver.Request.ID != a.requestID {
			r.Fatalf("%s: newest request %s, want %s", party, approver.Request.ID, a.requestID)
		}
		if !slices.Equal(history[party], a.history) {
			r.Fatalf("%s: history %q, want %q", party, history[party], a.history)
		}
		if approver.Consent.Refused != a.refused && a.number != "" {
			r.Fatalf("%s: a no stands: %t, want %t", party, approver.Consent.Refused, a.refused)
		}
		if on[party] != (a.state == "approved") {
			r.Fatalf("%s: app services %t in state %s", party, on[party], a.state)
		}
	}
}

// TestConsentStateMachine runs random sequences of valid and invalid operations
// against the model.
func TestConsentStateMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newMachineTest(t)
		t.Repeat(map[string]func(*rapid.T){
			"decide": r.decide, "decide again": r.decide, "decide unauthorized": r.decideUnauthorized, "send": r.send, "send again": r.send, "remind": r.remind,
			"cancel": r.cancel, "dispute": r.dispute, "lift": r.lift, "edit": r.edit, "remove": r.remove, "advance clock": r.advanceClock, "fail delivery": r.failDelivery,
			"end guardian alone": r.EndGuardianAlone, "end view": r.endView, "end proof": r.EndProof,
			"": r.check,
		})
	})
}
