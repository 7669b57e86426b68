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

// The specification's section 3, word for word but for the party. The model
// reads it; it knows nothing of the table in package approval.
const specification = `
	pending  | approves            | approved
	pending  | rejects             | rejected
	rejected | coach resubmits     | pending
	approved | revokes             | revoked
	revoked  | requests re-approval| pending
`

// half is what the model knows of one party.
type half struct {
	state  string
	number phone.Number
	asked  string // the newest request's id
	fate   string // what became of it: open, answered, cancelled, disputed
	sent   time.Time
	failed bool
	nudges []time.Time
	strife map[phone.Number]bool
	diary  []string
}

// model says in plain words what must happen, and under which code it must not.
type model struct {
	halves  map[actor.Role]*half
	removed bool
	adult   bool
	name    int
}

func (h *half) follow(verb string) bool {
	for line := range strings.Lines(specification) {
		if cells := strings.Split(line, "|"); len(cells) == 3 && strings.TrimSpace(cells[0]) == h.state && strings.TrimSpace(cells[1]) == verb {
			h.state = strings.TrimSpace(cells[2])
			return true
		}
	}
	return false
}

func (h *half) decide(action, request string) string {
	if request != "" && (request != h.asked || h.fate == "cancelled" || h.fate == "disputed") {
		return "request_superseded"
	}
	if h.state == action {
		return ""
	}
	if h.state == "pending" && h.fate != "open" {
		return "no_open_request"
	}
	if !h.follow(map[string]string{"approved": "approves", "rejected": "rejects", "revoked": "revokes"}[action]) {
		return "invalid_transition"
	}
	if h.fate == "open" {
		h.fate = "answered"
	}
	h.diary = append(h.diary, action)
	return ""
}

// send returns the code, or "new" or "again".
func (h *half) send(to phone.Number, now time.Time) string {
	switch {
	case h.state == "approved":
		return "already_approved"
	case to == "":
		return "no_contact_number"
	case h.strife[to]:
		return "contact_disputed"
	case h.fate == "open" && to == h.number:
		if !h.failed && now.Before(h.sent.Add(48*time.Hour)) {
			return "request_pending"
		}
		h.sent, h.failed = now, false
		return "again"
	case to != h.number:
		h.anew(to)
	case h.state != "pending":
		if !h.follow("coach resubmits") && !h.follow("requests re-approval") {
			return "stuck in " + h.state
		}
	}
	h.fate, h.sent, h.failed = "open", now, false
	return "new"
}

// anew is the party starting over, as somebody else where the number is another.
func (h *half) anew(n phone.Number) {
	if h.fate == "open" {
		h.fate = "cancelled"
	}
	h.state, h.number = "pending", n
}

type run struct {
	*rapid.T
	*approval.Service
	model
	shelf *shelf
	now   time.Time
	coach actor.Actor
	id    string
	ids   int
	old   []string // requests that are not the newest any more
}

func account(party actor.Role, n phone.Number) string { return string(party) + string(n) }

func birth(adult bool) approval.Date {
	if adult {
		return approval.Date{Year: 2000, Month: 1, Day: 1}
	}
	return approval.Date{Year: 2015, Month: 1, Day: 1}
}

var numbers = []phone.Number{"+919800000001", "+919800000002", "+919800000003"}

func start(t *rapid.T) *run {
	r := &run{T: t, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), coach: actor.Actor{AccountID: "coach", Role: actor.Coach, Number: "+919800000000"}}
	r.shelf = newShelf(func() time.Time { return r.now })
	rules := approval.Rules{
		ResendAfter: 48 * time.Hour, RemindersPerWindow: 2, ReminderWindow: 7 * 24 * time.Hour,
		Reachable:  func(phone.Number) bool { return true },
		TestNumber: func(phone.Number) bool { return false },
	}
	r.Service = approval.NewService(r.shelf, rules, func() time.Time { return r.now }, func() string { r.ids++; return fmt.Sprintf("id-%06d", r.ids) })
	r.adult = rapid.Bool().Draw(t, "adult")
	r.halves = map[actor.Role]*half{}
	for _, party := range approval.Parties {
		r.halves[party] = &half{state: "pending", fate: "none", strife: map[phone.Number]bool{}}
	}
	student := approval.Student{FullName: "Child 0", DateOfBirth: birth(r.adult)}
	var guardian *approval.Guardian
	if !r.adult || rapid.Bool().Draw(t, "guardian") {
		guardian = &approval.Guardian{Name: "Meera", Relationship: "mother", Number: r.draw("guardian's")}
		r.halves[actor.Guardian].send(guardian.Number, r.now)
	}
	if rapid.Bool().Draw(t, "student") {
		student.Number = r.draw("student's")
		r.halves[actor.Student].send(student.Number, r.now)
	}
	p, err := r.Add(context.Background(), r.coach, student, guardian)
	if err != nil {
		t.Fatal(err)
	}
	r.id = p.ID
	for party, h := range r.halves {
		if h.fate == "open" {
			h.asked = p.Side(party).Request.ID
		}
	}
	return r
}

func (r *run) draw(what string) phone.Number {
	return rapid.SampledFrom(numbers).Draw(r.T, what+" number")
}

func (r *run) party() (actor.Role, *half) {
	party := rapid.SampledFrom(approval.Parties).Draw(r.T, "party")
	return party, r.halves[party]
}

func (r *run) holder(party actor.Role) actor.Actor {
	n := r.halves[party].number
	if n == "" {
		return actor.Actor{Role: party, AccountID: "nobody"}
	}
	return actor.Actor{Role: party, AccountID: account(party, n), Number: n}
}

// asked draws a request that a caller may name: the newest, an older one, none.
func (r *run) asked(h *half) string {
	return rapid.SampledFrom(append([]string{"", h.asked, "unheard of"}, r.old...)).Draw(r.T, "request")
}

// expect compares an answer with what the model says.
func (r *run) expect(err error, want string) {
	if err != nil && fault.CodeOf(err) == "" {
		r.Fatalf("broken: %v", err)
	}
	if got := fault.CodeOf(err); got != want {
		r.Fatalf("answered %q (%v), want %q", got, err, want)
	}
}

func (r *run) decide(*rapid.T) {
	party, h := r.party()
	action := rapid.SampledFrom([]string{"approved", "rejected", "revoked"}).Draw(r.T, "action")
	request := r.asked(h)
	want := "not_found"
	if !r.removed && h.number != "" {
		want = h.decide(action, request)
	}
	_, _, err := r.Decide(context.Background(), r.holder(party), r.id, approval.Decision{Action: approval.Trigger(action), RequestID: request})
	r.expect(err, want)
}

// meddle is somebody who may not decide: a former holder, the other party's
// account, the coach.
func (r *run) meddle(*rapid.T) {
	party, h := r.party()
	n := r.draw("meddler's")
	if n == h.number {
		return
	}
	by := rapid.SampledFrom([]actor.Actor{{Role: party, AccountID: account(party, n)}, r.coach, {Role: actor.Coach, AccountID: "rival"}}).Draw(r.T, "meddler")
	_, _, err := r.Decide(context.Background(), by, r.id, approval.Decision{Action: approval.Approve})
	r.expect(err, "not_found")
}

func (r *run) send(*rapid.T) {
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
		if !created || got.ID == h.asked {
			r.Fatalf("sent %+v, created %t; want a new request", got, created)
		}
		r.forget(h)
		h.asked = got.ID
	case "again":
		r.expect(err, "")
		if created || got.ID != h.asked {
			r.Fatalf("sent %+v, created %t; want %s again", got, created, h.asked)
		}
	default:
		r.expect(err, want)
	}
}

func (r *run) forget(h *half) {
	if h.asked != "" {
		r.old = append(r.old, h.asked)
	}
}

func (r *run) remind(*rapid.T) {
	party, h := r.party()
	recent := 0
	for _, at := range h.nudges {
		if r.now.Sub(at) < 7*24*time.Hour {
			recent++
		}
	}
	want := ""
	switch {
	case r.removed:
		want = "not_found"
	case h.fate != "open":
		want = "no_open_request"
	case recent >= 2:
		want = "reminder_limit"
	default:
		h.nudges = append(h.nudges, r.now)
	}
	_, left, err := r.Remind(context.Background(), r.coach, r.id, party)
	r.expect(err, want)
	if want == "" && left != 1-recent {
		r.Fatalf("%d reminders left after %d", left, recent+1)
	}
}

func (r *run) cancel(*rapid.T) {
	_, h := r.party()
	request := r.asked(h)
	want := "no_open_request"
	switch {
	case r.removed || request == "" || request == "unheard of":
		want = "not_found"
	case request == h.asked && h.fate == "open":
		h.fate, want = "cancelled", ""
	}
	_, err := r.Cancel(context.Background(), r.coach, request)
	r.expect(err, want)
}

func (r *run) dispute(*rapid.T) {
	party, h := r.party()
	want := "no_open_request"
	switch {
	case r.removed || h.asked == "" || h.number == "":
		want = "not_found"
	case h.fate == "open":
		h.fate, want = "disputed", ""
		h.strife[h.number] = true
	case r.shelf.requests[h.asked].PartyID != r.holder(party).AccountID:
		want = "not_found"
	}
	_, err := r.Dispute(context.Background(), r.holder(party), h.asked)
	r.expect(err, want)
}

func (r *run) lift(*rapid.T) {
	party, h := r.party()
	want := ""
	switch {
	case r.removed || h.asked == "" || h.number == "" || r.shelf.requests[h.asked].PartyID != r.holder(party).AccountID:
		want = "not_found"
	case h.fate == "disputed":
		h.fate = "cancelled"
		delete(h.strife, h.number)
	}
	r.expect(r.Lift(context.Background(), r.holder(party), h.asked), want)
}

// edit changes any of the name, the birth date, the numbers, at once.
func (r *run) edit(*rapid.T) {
	g, s := r.halves[actor.Guardian], r.halves[actor.Student]
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
	case to[actor.Guardian] != g.number && g.strife[to[actor.Guardian]], to[actor.Student] != s.number && s.strife[to[actor.Student]]:
		want = "contact_disputed"
	}
	before := map[actor.Role]string{actor.Guardian: g.asked, actor.Student: s.asked}
	renewed := map[actor.Role]bool{}
	if want == "" {
		another := name != r.name || adult != r.adult
		r.name, r.adult = name, adult
		for party, h := range r.halves {
			moved := to[party] != h.number
			if !moved && !another {
				continue
			}
			wanted := moved || h.fate == "open" || h.state != "pending"
			h.anew(to[party])
			if renewed[party] = wanted && h.number != "" && !h.strife[h.number]; renewed[party] {
				h.send(h.number, r.now)
			}
		}
	}
	p, err := r.Edit(context.Background(), r.coach, r.id, patch)
	r.expect(err, want)
	for party, is := range renewed {
		if is {
			h := r.halves[party]
			if h.asked = p.Side(party).Request.ID; h.asked == before[party] {
				r.Fatalf("the %s's request is still %s", party, h.asked)
			}
			if before[party] != "" {
				r.old = append(r.old, before[party])
			}
		}
	}
}

func (r *run) remove(*rapid.T) {
	if rapid.IntRange(0, 4).Draw(r.T, "really") > 0 {
		return
	}
	want := ""
	if r.removed {
		want = "not_found"
	}
	r.removed = true
	r.expect(r.Remove(context.Background(), r.coach, r.id), want)
	for _, h := range r.halves {
		if h.fate == "open" {
			h.fate = "cancelled"
		}
	}
}

func (r *run) wait(*rapid.T) {
	r.now = r.now.Add(time.Duration(rapid.SampledFrom([]int{1, 12, 47, 48, 24 * 7}).Draw(r.T, "hours")) * time.Hour)
}

// lose is a worker that gives up on the SMS of an open request.
func (r *run) lose(*rapid.T) {
	if _, h := r.party(); h.fate == "open" {
		h.failed = true
		q := r.shelf.requests[h.asked]
		q.DeliveryFailed = true
		r.shelf.requests[h.asked] = q
	}
}

// check compares all that can be seen with the model.
func (r *run) check(*rapid.T) {
	p := r.shelf.copy()
	diary := map[actor.Role][]string{}
	for _, record := range r.shelf.history {
		diary[record.Party] = append(diary[record.Party], string(record.Action))
	}
	services := p.Standing().Availability(approval.Rules{}, r.now)
	on := map[actor.Role]bool{actor.Guardian: services.GuardianApp, actor.Student: services.StudentApp}
	for party, h := range r.halves {
		side := p.Side(party)
		if string(side.Consent.State) != h.state || (side.Open() != nil) != (h.fate == "open") || p.Number(party) != h.number {
			r.Fatalf("%s: %+v at %s, request %+v; want %+v", party, side.Consent, p.Number(party), side.Request, h)
		}
		if side.Request != nil && side.Request.ID != h.asked {
			r.Fatalf("%s: newest request %s, want %s", party, side.Request.ID, h.asked)
		}
		if !slices.Equal(diary[party], h.diary) {
			r.Fatalf("%s: history %q, want %q", party, diary[party], h.diary)
		}
		if on[party] != (h.state == "approved") {
			r.Fatalf("%s: services %t while %s", party, on[party], h.state)
		}
	}
}

// Any sequence of what people may do, right or wrong, leads where the model says.
func TestMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := start(t)
		t.Repeat(map[string]func(*rapid.T){
			"decide": r.decide, "decide more": r.decide, "meddle": r.meddle, "send": r.send, "send more": r.send, "remind": r.remind,
			"cancel": r.cancel, "dispute": r.dispute, "lift": r.lift, "edit": r.edit, "remove": r.remove, "wait": r.wait, "lose": r.lose,
			"": r.check,
		})
	})
}
