package approval_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// specification is section 3 of the specification. The model uses it instead of the
// table in package approval.
const specification = `
	pending  | approves            | approved
	pending  | rejects             | rejected
	rejected | coach resubmits     | pending
	approved | revokes             | revoked
	revoked  | requests re-approval| pending
`

// modelApprover is the model's state of one party.
type modelApprover struct {
	state        string
	number       phone.Number
	requestID    string // id of the newest request
	requestState string // none, open, decided, cancelled or disputed
	sent         time.Time
	failed       bool
	reminders    []time.Time
	disputed     map[phone.Number]bool
	disputedAt   time.Time
	// pendingSince is when the consent last restarted, requestedAt when the newest request was made.
	pendingSince, requestedAt time.Time
	history                   []string
}

// model predicts the outcome or the error code of each operation.
type model struct {
	approvers map[actor.Role]*modelApprover
	removed   bool
	adult     bool
	name      int
}

func (h *modelApprover) apply(action string) bool {
	for line := range strings.Lines(specification) {
		if cells := strings.Split(line, "|"); len(cells) == 3 && strings.TrimSpace(cells[0]) == h.state && strings.TrimSpace(cells[1]) == action {
			h.state = strings.TrimSpace(cells[2])
			return true
		}
	}
	return false
}

func (h *modelApprover) decide(action, request string) string {
	if request != "" && (request != h.requestID || h.requestState == "cancelled" || h.requestState == "disputed") {
		return "request_superseded"
	}
	if h.state == action {
		return ""
	}
	if h.state == "pending" && h.requestState != "open" {
		return "no_open_request"
	}
	if !h.apply(map[string]string{"approved": "approves", "rejected": "rejects", "revoked": "revokes"}[action]) {
		return "invalid_transition"
	}
	if h.requestState == "open" {
		h.requestState = "decided"
	}
	h.history = append(h.history, action)
	return ""
}

// send returns an error code, "new" or "again".
func (h *modelApprover) send(to phone.Number, now time.Time) string {
	switch {
	case h.state == "approved":
		return "already_approved"
	case to == "":
		return "no_contact_number"
	case h.disputed[to]:
		return "contact_disputed"
	case h.requestState == "open" && to == h.number:
		if !h.failed && now.Before(h.sent.Add(48*time.Hour)) {
			return "request_pending"
		}
		h.sent, h.failed = now, false
		return "again"
	case to != h.number:
		h.restart(to, now)
	case h.state != "pending":
		if !h.apply("coach resubmits") && !h.apply("requests re-approval") {
			return "stuck in " + h.state
		}
	}
	h.requestState, h.sent, h.failed, h.requestedAt = "open", now, false, now
	return "new"
}

// restart makes the consent pending, for a new number or another student.
func (h *modelApprover) restart(n phone.Number, now time.Time) {
	if h.requestState == "open" {
		h.requestState = "cancelled"
	}
	h.state, h.number, h.pendingSince = "pending", n, now
}

type machineTest struct {
	*rapid.T
	*approval.Service
	model
	store *fakeStore
	now   time.Time
	coach actor.Actor
	id    string
	ids   int
	old   []string // requests that are no longer the newest
}

func noTestNumber(phone.Number) bool { return false }

func account(party actor.Role, n phone.Number) string { return string(party) + string(n) }

func birth(adult bool) approval.Date {
	if adult {
		return approval.Date{Year: 2000, Month: 1, Day: 1}
	}
	return approval.Date{Year: 2015, Month: 1, Day: 1}
}

var numbers = []phone.Number{"+919800000001", "+919800000002", "+919800000003"}

func newMachineTest(t *rapid.T) *machineTest {
	r := &machineTest{T: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), coach: actor.Actor{AccountID: "coach", Role: actor.Coach, Number: "+919800000000"}}
	r.store = newFakeStore(func() time.Time { return r.now })
	rules := approval.Rules{
		ResendAfter: 48 * time.Hour, RemindersPerWindow: 2, ReminderWindow: 7 * 24 * time.Hour,
		Routes: map[approval.Channel]approval.Route{
			"in_app": approval.RouteInApp,
			"sms":    approval.RouteToNumber(func(phone.Number) bool { return true }, noTestNumber),
		},
		DefaultChannels: []approval.Channel{"in_app", "sms"},
		TestNumber:      noTestNumber,
	}
	r.Service = approval.NewService(r.store, rules, func() time.Time { return r.now }, func() string { r.ids++; return fmt.Sprintf("id-%06d", r.ids) })
	r.adult = rapid.Bool().Draw(t, "adult")
	r.approvers = map[actor.Role]*modelApprover{}
	for _, party := range approval.Parties {
		r.approvers[party] = &modelApprover{state: "pending", requestState: "none", disputed: map[phone.Number]bool{}, pendingSince: r.now}
	}
	student := approval.Student{FullName: "Child 0", DateOfBirth: birth(r.adult)}
	var guardian *approval.Guardian
	if !r.adult || rapid.Bool().Draw(t, "guardian") {
		guardian = &approval.Guardian{Name: "Meera", Relationship: "mother", Number: r.draw("guardian's")}
		r.approvers[actor.Guardian].send(guardian.Number, r.now)
	}
	if rapid.Bool().Draw(t, "student") {
		student.Number = r.draw("student's")
		r.approvers[actor.Student].send(student.Number, r.now)
	}
	p, err := r.Add(context.Background(), r.coach, student, guardian)
	if err != nil {
		t.Fatal(err)
	}
	r.id = p.ID
	for party, h := range r.approvers {
		if h.requestState == "open" {
			h.requestID = p.Approver(party).Request.ID
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
func (r *machineTest) drawRequest(h *modelApprover) string {
	return rapid.SampledFrom(append([]string{"", h.requestID, "unknown"}, r.old...)).Draw(r.T, "request")
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

func (r *machineTest) decide(*rapid.T) {
	party, h := r.party()
	action := rapid.SampledFrom([]string{"approved", "rejected", "revoked"}).Draw(r.T, "action")
	request := r.drawRequest(h)
	want := "not_found"
	if !r.removed && h.number != "" {
		want = h.decide(action, request)
	}
	_, _, err := r.Decide(context.Background(), r.recipient(party), r.id, approval.Decision{Action: approval.Trigger(action), RequestID: request})
	r.expect(err, want)
}

// decideUnauthorized tries to decide with a former number, the coach's account or another coach.
func (r *machineTest) decideUnauthorized(*rapid.T) {
	party, h := r.party()
	n := r.draw("other")
	if n == h.number {
		return
	}
	by := rapid.SampledFrom([]actor.Actor{{Role: party, AccountID: account(party, n)}, r.coach, {Role: actor.Coach, AccountID: "other coach"}}).Draw(r.T, "caller")
	_, _, err := r.Decide(context.Background(), by, r.id, approval.Decision{Action: approval.Approve})
	r.expect(err, "not_found")
}

func (r *machineTest) send(*rapid.T) {
	party, h := r.party()
	to := h.number
	var correction approval.Patch
	if rapid.Bool().Draw(r.T, "corrected") {
		to = r.draw("corrected")
		correction.Student.Number = &to
		if party == actor.Guardian {
			name, relationship := "Meera", "mother"
			correction = approval.Patch{Guardian: &approval.GuardianPatch{Name: &name, Relationship: &relationship, Number: &to}}
		}
	}
	want := "not_found"
	if !r.removed {
		want = h.send(to, r.now)
	}
	got, created, err := r.Send(context.Background(), r.coach, r.id, party, correction, nil)
	switch want {
	case "new":
		r.expect(err, "")
		if !created || got.ID == h.requestID {
			r.Fatalf("sent %+v, created %t; want a new request", got, created)
		}
		r.addOldRequest(h)
		h.requestID = got.ID
	case "again":
		r.expect(err, "")
		if created || got.ID != h.requestID {
			r.Fatalf("sent %+v, created %t; want %s again", got, created, h.requestID)
		}
	default:
		r.expect(err, want)
	}
}

func (r *machineTest) addOldRequest(h *modelApprover) {
	if h.requestID != "" {
		r.old = append(r.old, h.requestID)
	}
}

func (r *machineTest) remind(*rapid.T) {
	party, h := r.party()
	recent := 0
	for _, at := range h.reminders {
		if r.now.Sub(at) < 7*24*time.Hour {
			recent++
		}
	}
	want := ""
	switch {
	case r.removed:
		want = "not_found"
	case h.requestState != "open":
		want = "no_open_request"
	case recent >= 2:
		want = "reminder_limit"
	default:
		h.reminders = append(h.reminders, r.now)
	}
	_, left, err := r.Remind(context.Background(), r.coach, r.id, party)
	r.expect(err, want)
	if want == "" && left != 1-recent {
		r.Fatalf("got %d reminders left after %d", left, recent+1)
	}
}

func (r *machineTest) cancel(*rapid.T) {
	_, h := r.party()
	request := r.drawRequest(h)
	want := "no_open_request"
	switch {
	case r.removed || request == "" || request == "unknown":
		want = "not_found"
	case request == h.requestID && h.requestState == "open":
		h.requestState, want = "cancelled", ""
	}
	_, err := r.Cancel(context.Background(), r.coach, request)
	r.expect(err, want)
}

func (r *machineTest) dispute(*rapid.T) {
	party, h := r.party()
	want := "no_open_request"
	switch {
	case r.removed || h.requestID == "" || h.number == "":
		want = "not_found"
	case h.requestState == "open":
		h.requestState, want = "disputed", ""
		h.disputedAt = r.now
		h.disputed[h.number] = true
	case r.store.requests[h.requestID].PartyID != r.recipient(party).AccountID:
		want = "not_found"
	}
	_, err := r.Dispute(context.Background(), r.recipient(party), h.requestID)
	r.expect(err, want)
}

func (r *machineTest) lift(*rapid.T) {
	party, h := r.party()
	want := ""
	switch {
	case r.removed || h.requestID == "" || h.number == "" || r.store.requests[h.requestID].PartyID != r.recipient(party).AccountID:
		want = "not_found"
	case h.requestState == "disputed":
		h.requestState = "open"
		if r.now.Sub(h.disputedAt) > 30*24*time.Hour || h.pendingSince.After(h.requestedAt) {
			h.requestState = "cancelled"
		}
		delete(h.disputed, h.number)
	}
	r.expect(r.Lift(context.Background(), r.recipient(party), h.requestID), want)
}

// edit changes any combination of name, birth date and numbers.
func (r *machineTest) edit(*rapid.T) {
	g, s := r.approvers[actor.Guardian], r.approvers[actor.Student]
	to := map[actor.Role]phone.Number{actor.Guardian: g.number, actor.Student: s.number}
	var patch approval.Patch
	name, adult := r.name, r.adult
	if rapid.Bool().Draw(r.T, "rename") {
		name++
		patch.Student.FullName = new(string)
		*patch.Student.FullName = fmt.Sprint("Child ", name)
	}
	if rapid.IntRange(0, 3).Draw(r.T, "date") == 0 {
		adult = !adult
		born := birth(adult)
		patch.Student.DateOfBirth = &born
	}
	switch rapid.IntRange(0, 4).Draw(r.T, "student") {
	case 0:
		to[actor.Student] = ""
	case 1:
		to[actor.Student] = r.draw("student's")
	}
	student := to[actor.Student]
	patch.Student.Number = &student
	switch rapid.IntRange(0, 4).Draw(r.T, "guardian") {
	case 0:
		to[actor.Guardian], patch.RemoveGuardian = "", true
	case 1:
		n := r.draw("guardian's")
		called, relationship := "Meera", "mother"
		to[actor.Guardian] = n
		patch.Guardian = &approval.GuardianPatch{Name: &called, Relationship: &relationship, Number: &n}
	}

	want := ""
	switch {
	case r.removed:
		want = "not_found"
	case !adult && to[actor.Guardian] == "":
		want = "validation_failed"
	case to[actor.Guardian] != g.number && g.disputed[to[actor.Guardian]], to[actor.Student] != s.number && s.disputed[to[actor.Student]]:
		want = "contact_disputed"
	}
	before := map[actor.Role]string{actor.Guardian: g.requestID, actor.Student: s.requestID}
	newRequest := map[actor.Role]bool{}
	if want == "" {
		another := name != r.name || adult != r.adult
		r.name, r.adult = name, adult
		for party, h := range r.approvers {
			numberChanged := to[party] != h.number
			if !numberChanged && !another {
				continue
			}
			needsRequest := numberChanged || h.requestState == "open" || h.state != "pending"
			h.restart(to[party], r.now)
			if newRequest[party] = needsRequest && h.number != "" && !h.disputed[h.number]; newRequest[party] {
				h.send(h.number, r.now)
			}
		}
	}
	p, err := r.Edit(context.Background(), r.coach, r.id, patch)
	r.expect(err, want)
	for party, is := range newRequest {
		if is {
			h := r.approvers[party]
			if h.requestID = p.Approver(party).Request.ID; h.requestID == before[party] {
				r.Fatalf("request of the %s is still %s, want a new one", party, h.requestID)
			}
			if before[party] != "" {
				r.old = append(r.old, before[party])
			}
		}
	}
}

func (r *machineTest) remove(*rapid.T) {
	if rapid.IntRange(0, 4).Draw(r.T, "really") > 0 {
		return
	}
	want := ""
	if r.removed {
		want = "not_found"
	}
	r.removed = true
	r.expect(r.Remove(context.Background(), r.coach, r.id), want)
	for _, h := range r.approvers {
		if h.requestState == "open" {
			h.requestState = "cancelled"
		}
	}
}

func (r *machineTest) advanceClock(*rapid.T) {
	r.now = r.now.Add(time.Duration(rapid.SampledFrom([]int{1, 12, 47, 48, 24 * 7, 24 * 31}).Draw(r.T, "hours")) * time.Hour)
}

// failDelivery makes the SMS of an open request fail permanently.
func (r *machineTest) failDelivery(*rapid.T) {
	if _, h := r.party(); h.requestState == "open" {
		h.failed = true
		q := r.store.requests[h.requestID]
		q.DeliveryFailed, q.FailedChannels = true, []approval.Channel{"sms"}
		r.store.requests[h.requestID] = q
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
	for party, h := range r.approvers {
		approver := p.Approver(party)
		if string(approver.Consent.State) != h.state || (approver.OpenRequest() != nil) != (h.requestState == "open") || p.Number(party) != h.number {
			r.Fatalf("%s: %+v at %s, request %+v; want %+v", party, approver.Consent, p.Number(party), approver.Request, h)
		}
		if approver.Request != nil && approver.Request.ID != h.requestID {
			r.Fatalf("%s: newest request %s, want %s", party, approver.Request.ID, h.requestID)
		}
		if !slices.Equal(history[party], h.history) {
			r.Fatalf("%s: history %q, want %q", party, history[party], h.history)
		}
		if on[party] != (h.state == "approved") {
			r.Fatalf("%s: app services %t in state %s", party, on[party], h.state)
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
			"": r.check,
		})
	})
}
