package approval_test

import (
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
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
	// approvedAt is when the party last approved.
	approvedAt time.Time
	history    []string
	// refused says that the newest answer was a no or took a yes back.
	refused bool
	// proofEnded says that the consent is pending because the proof behind its yes ended.
	proofEnded bool
}

// model predicts the outcome or the error code of each operation.
type model struct {
	approvers map[actor.Role]*modelApprover
	removed   bool
	born      approval.Date
	name      int
}

func (a *modelApprover) apply(action string) bool {
	for line := range strings.Lines(specification) {
		if cells := strings.Split(line, "|"); len(cells) == 3 && strings.TrimSpace(cells[0]) == a.state && strings.TrimSpace(cells[1]) == action {
			a.state = strings.TrimSpace(cells[2])
			return true
		}
	}
	return false
}

func (a *modelApprover) decide(action, request string) string {
	if request != "" && (request != a.requestID || a.requestState == "cancelled" || a.requestState == "disputed") {
		return "request_superseded"
	}
	if a.state == action {
		return ""
	}
	if a.state == "pending" && !a.asked() && (action == "approved" || !a.refused && !a.proofEnded) {
		return "no_open_request"
	}
	if !a.apply(map[string]string{"approved": "approves", "rejected": "rejects", "revoked": "revokes"}[action]) {
		return "invalid_transition"
	}
	if a.requestState == "open" {
		a.requestState = "decided"
	}
	a.history, a.refused, a.proofEnded = append(a.history, action), action != "approved", false
	return ""
}

// asked reports whether there is a question to answer: an open one, or that of a yes whose proof ended.
func (a *modelApprover) asked() bool {
	return a.requestState == "open" || a.proofEnded && a.requestState == "decided"
}

// EndProof ends an approval of the guardian.
func (m *model) EndProof(now time.Time) {
	if g := m.approvers[actor.Guardian]; !m.removed && g.state == "approved" {
		g.state, g.pendingSince, g.proofEnded = "pending", now, true
	}
}

// send returns an error code, "new" or "again".
func (a *modelApprover) send(to phone.Number, now time.Time) string {
	switch {
	case a.state == "approved":
		return "already_approved"
	case to == "":
		return "no_contact_number"
	case a.disputed[to]:
		return "contact_disputed"
	case a.requestState == "open" && to == a.number:
		if !a.failed && now.Before(a.sent.Add(48*time.Hour)) {
			return "request_pending"
		}
		a.sent, a.failed = now, false
		return "again"
	case to != a.number:
		a.restart(to, now)
	case a.state != "pending":
		if !a.apply("coach resubmits") && !a.apply("requests re-approval") {
			return "stuck in " + a.state
		}
	}
	a.requestState, a.sent, a.failed, a.requestedAt = "open", now, false, now
	return "new"
}

// EndGuardianAlone ends an approval of the guardian from before the student was an adult, unless the
// student has approved.
func (m *model) EndGuardianAlone(now time.Time) {
	g := m.approvers[actor.Guardian]
	adultOn := time.Date(m.born.Year+18, m.born.Month, m.born.Day, 0, 0, 0, 0, time.UTC)
	if !m.removed && g.state == "approved" && m.approvers[actor.Student].state != "approved" && !now.Before(adultOn) && g.approvedAt.Before(adultOn) {
		g.state, g.pendingSince = "pending", now
	}
}

// restart makes the consent pending, for a new number or another student.
func (a *modelApprover) restart(n phone.Number, now time.Time) {
	if a.requestState == "open" {
		a.requestState = "cancelled"
	}
	if a.number == "" { // another person
		a.refused = false
	}
	a.state, a.number, a.pendingSince, a.proofEnded = "pending", n, now, false
}
