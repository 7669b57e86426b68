package approval

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
)

// Page asks for a part of a list: at most Limit items after the keyset After.
type Page struct {
	Limit int
	After Keyset
}

// Keyset is where the page before ended; the zero Keyset starts at the top.
type Keyset struct {
	At    time.Time
	ID    string
	Party actor.Role
}

// Filter narrows the list of a coach's players.
type Filter struct {
	GuardianStatus string // pending, approved, rejected, or empty for any
	StudentStatus  string
	// Search is a part of the student's or the guardian's name, whatever the case.
	Search string
}

// PendingItem is one party that a coach waits for.
type PendingItem struct {
	PlayerID     string
	StudentName  string
	Party        actor.Role
	ApproverName string
	PendingSince time.Time
	// HasNumber says whether there is a number to ask.
	HasNumber bool
	// Request is the newest one, or nil.
	Request *Request
	// Reminders used within the window.
	Reminders int
}

// BlockedBy says why nobody can answer at the moment, or "".
func (i PendingItem) BlockedBy() string {
	switch {
	case !i.HasNumber:
		return "no_contact_number"
	case i.Request == nil, i.Request.State == RequestCancelled:
		return "request_cancelled"
	case i.Request.State == RequestDisputed:
		return "disputed"
	case i.Request.DeliveryFailed:
		return "delivery_failed"
	}
	return ""
}
