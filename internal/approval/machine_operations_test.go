package approval_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

func (r *machineTest) decide(*rapid.T) {
	party, a := r.party()
	action := rapid.SampledFrom([]string{"approved", "rejected", "revoked"}).Draw(r.T, "action")
	request := r.drawRequest(a)
	want := "not_found"
	if !r.removed && a.number != "" {
		before := a.state
		want = a.decide(action, request)
		if before != a.state && a.state == "approved" {
			a.approvedAt = r.now
		}
	}
	err := r.store.Decide(r.recipient(party), approval.Decision{Action: approval.Trigger(action), RequestID: request})
	r.expect(err, want)
}

// decideUnauthorized tries to decide with a former number, the coach's account or another coach.
func (r *machineTest) decideUnauthorized(*rapid.T) {
	party, a := r.party()
	n := r.draw("other")
	if n == a.number {
		return
	}
	by := rapid.SampledFrom([]actor.Actor{{Role: party, AccountID: account(party, n)}, r.coach, {Role: actor.Coach, AccountID: "other coach"}}).Draw(r.T, "caller")
	err := r.store.Decide(by, approval.Decision{Action: approval.Approve})
	r.expect(err, "not_found")
}

func (r *machineTest) send(*rapid.T) {
	party, a := r.party()
	to := a.number
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
		want = a.send(to, r.now)
	}
	got, created, err := r.store.Send(r.coach, party, correction)
	switch want {
	case "new":
		r.expect(err, "")
		if !created || got.ID == a.requestID {
			r.Fatalf("sent %+v, created %t; want a new request", got, created)
		}
		r.addOldRequest(a)
		a.requestID = got.ID
	case "again":
		r.expect(err, "")
		if created || got.ID != a.requestID {
			r.Fatalf("sent %+v, created %t; want %s again", got, created, a.requestID)
		}
	default:
		r.expect(err, want)
	}
}

func (r *machineTest) addOldRequest(a *modelApprover) {
	if a.requestID != "" {
		r.old = append(r.old, a.requestID)
	}
}

func (r *machineTest) remind(*rapid.T) {
	party, a := r.party()
	recent := 0
	for _, at := range a.reminders {
		if r.now.Sub(at) < 7*24*time.Hour {
			recent++
		}
	}
	want := ""
	switch {
	case r.removed:
		want = "not_found"
	case a.requestState != "open":
		want = "no_open_request"
	case recent >= 2:
		want = "reminder_limit"
	default:
		a.reminders = append(a.reminders, r.now)
	}
	left, err := r.store.Remind(r.coach, party)
	r.expect(err, want)
	if want == "" && left != 1-recent {
		r.Fatalf("got %d reminders left after %d", left, recent+1)
	}
}

func (r *machineTest) cancel(*rapid.T) {
	_, a := r.party()
	request := r.drawRequest(a)
	want := "no_open_request"
	switch {
	case r.removed || request == "" || request == "unknown":
		want = "not_found"
	case request == a.requestID && a.requestState == "open":
		a.requestState, want = "cancelled", ""
	}
	err := r.store.Cancel(r.coach, request)
	r.expect(err, want)
}

func (r *machineTest) dispute(*rapid.T) {
	party, a := r.party()
	want := "no_open_request"
	switch {
	case r.removed || a.requestID == "" || a.number == "":
		want = "not_found"
	case a.requestState == "open":
		a.requestState, want = "disputed", ""
		a.disputedAt = r.now
		a.disputed[a.number] = true
	case r.store.requests[a.requestID].PartyID != r.recipient(party).AccountID:
		want = "not_found"
	}
	err := r.store.Dispute(r.recipient(party), a.requestID)
	r.expect(err, want)
}

func (r *machineTest) lift(*rapid.T) {
	party, a := r.party()
	want := ""
	switch {
	case r.removed || a.requestID == "" || a.number == "" || r.store.requests[a.requestID].PartyID != r.recipient(party).AccountID:
		want = "not_found"
	case a.requestState == "disputed":
		a.requestState = "open"
		if r.now.Sub(a.disputedAt) > 30*24*time.Hour || a.pendingSince.After(a.requestedAt) || a.state != "pending" {
			a.requestState = "cancelled"
		}
		delete(a.disputed, a.number)
	}
	r.expect(r.store.Lift(r.recipient(party), a.requestID), want)
}

// edit changes any combination of name, birth date and numbers.
func (r *machineTest) edit(*rapid.T) {
	g, s := r.approvers[actor.Guardian], r.approvers[actor.Student]
	to := map[actor.Role]phone.Number{actor.Guardian: g.number, actor.Student: s.number}
	var patch approval.Patch
	name, born := r.name, r.born
	if rapid.Bool().Draw(r.T, "rename") {
		name++
		patch.Student.FullName = new(string)
		*patch.Student.FullName = fmt.Sprint("Child ", name)
	}
	if rapid.IntRange(0, 3).Draw(r.T, "date") == 0 {
		born = drawBirth(r.T)
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
	case !born.IsAdult(r.now) && to[actor.Guardian] == "":
		want = "validation_failed"
	case to[actor.Guardian] != g.number && g.disputed[to[actor.Guardian]], to[actor.Student] != s.number && s.disputed[to[actor.Student]]:
		want = "contact_disputed"
	}
	before := map[actor.Role]string{actor.Guardian: g.requestID, actor.Student: s.requestID}
	newRequest := map[actor.Role]bool{}
	if want == "" {
		another := name != r.name || born != r.born
		r.name, r.born = name, born
		for party, a := range r.approvers {
			numberChanged := to[party] != a.number
			if !numberChanged && !another {
				continue
			}
			needsRequest := numberChanged || a.asked() || a.state != "pending"
			a.restart(to[party], r.now)
			if newRequest[party] = needsRequest && a.number != "" && !a.disputed[a.number]; newRequest[party] {
				a.send(a.number, r.now)
			}
		}
	}
	p, err := r.store.Edit(r.coach, patch)
	r.expect(err, want)
	for party, is := range newRequest {
		if is {
			a := r.approvers[party]
			if a.requestID = p.Party(party).Request.ID; a.requestID == before[party] {
				r.Fatalf("request of the %s is still %s, want a new one", party, a.requestID)
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
	r.expect(r.store.Remove(r.coach), want)
	for _, a := range r.approvers {
		if a.requestState == "open" {
			a.requestState = "cancelled"
		}
	}
}

// EndGuardianAlone is what the worker does 30 days after the 18th birthday.
func (r *machineTest) EndGuardianAlone(*rapid.T) {
	r.model.EndGuardianAlone(r.now)
	r.store.EndGuardianAlone()
}

// EndProof is what happens when the proof ends that the guardian is an adult.
func (r *machineTest) EndProof(*rapid.T) {
	r.model.EndProof(r.now)
	r.store.EndProof()
}

// endView ends the guardian's view as the student, or tries to as the guardian.
func (r *machineTest) endView(*rapid.T) {
	party, _ := r.party()
	g, s := r.approvers[actor.Guardian], r.approvers[actor.Student]
	want := ""
	switch {
	case r.removed || party != actor.Student || s.number == "":
		want = "not_found"
	case !r.born.IsAdult(r.now):
		want = "role_not_allowed"
	case s.state == "pending":
		want = "approval_pending"
	case g.number != "":
		g.restart("", r.now)
	}
	r.expect(r.store.EndGuardianView(r.recipient(party)), want)
}

func (r *machineTest) advanceClock(*rapid.T) {
	r.now = r.now.Add(time.Duration(rapid.SampledFrom([]int{1, 12, 47, 48, 24 * 7, 24 * 31}).Draw(r.T, "hours")) * time.Hour)
}

// failDelivery makes the SMS of an open request fail permanently.
func (r *machineTest) failDelivery(*rapid.T) {
	if _, a := r.party(); a.requestState == "open" {
		a.failed = true
		q := r.store.requests[a.requestID]
		q.DeliveryFailed, q.FailedChannels = true, []message.Channel{"sms"}
		r.store.requests[a.requestID] = q
	}
}
