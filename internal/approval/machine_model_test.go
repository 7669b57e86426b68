package approval_test

import (
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
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
