package approval

import (
	"regexp"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/team"
)

// Page selects at most Limit items after the keyset After.
type Page struct {
	Limit int
	After Keyset
}

// Keyset is the position of the last item of the previous page; the zero Keyset is the start.
type Keyset struct {
	At    time.Time
	ID    string
	Party actor.Role
	// GuardianID is that of the Party.
	GuardianID string
}

// Filter filters the players of a coach.
type Filter struct {
	GuardianStatus string // pending, approved, rejected, or empty for any
	StudentStatus  string
	// GuardianState and StudentState are states, or empty for any.
	GuardianState State
	StudentState  State
	// BatchID is a batch that the player is in, or empty for any.
	BatchID string
	// Search is a part of the student's or guardian's name, in any case, or the last
	// 3 to 6 digits of a number.
	Search string
}

// numberEnd matches a search for the last digits of a number.
var numberEnd = regexp.MustCompile(`^[0-9]{3,6}$`)

// NumberEnd returns Search if it can be the last digits of a number, otherwise "".
func (f Filter) NumberEnd() string {
	if numberEnd.MatchString(f.Search) {
		return f.Search
	}
	return ""
}

// PendingItem is one pending consent.
type PendingItem struct {
	PlayerID     string
	StudentName  string
	Party        actor.Role
	GuardianID   string
	ApproverName string
	PendingSince time.Time
	Reason       PendingReason
	// HasNumber reports whether the party has a number.
	HasNumber bool
	// Request is the newest request, or nil.
	Request *Request
	// Held reports whether a message of the request waits for a message limit.
	Held bool
	// Stopped reports whether the party wants no messages of the coach.
	Stopped bool
	// Reminders is the number of reminders sent within the window.
	Reminders int
}

// BlockedBy returns the code of the reason why no message of the request reaches the party, or "".
func (i PendingItem) BlockedBy() string {
	switch {
	case !i.HasNumber:
		return "no_contact_number"
	case i.Request != nil && i.Request.State == RequestDisputed:
		return "disputed"
	case i.Request == nil, i.Request.State != RequestPending: // cancelled, or answered by a yes that no longer counts
		return "request_cancelled"
	case i.Stopped:
		return "stopped"
	case i.Request.DeliveryFailed:
		return "delivery_failed"
	case i.Held:
		return "message_limit"
	}
	return ""
}

// NamePage selects at most Limit players in the order of their names: those behind the player with the id After, else
// those from the letter From.
type NamePage struct {
	After, From string
	Limit       int
}

// SortByName puts players into alphabetical order.
func SortByName(players []*Player) {
	slices.SortFunc(players, func(a, b *Player) int { return team.CompareNames(a.Student.FullName, a.ID, b.Student.FullName, b.ID) })
}

// NameCount has how many players match a filter, and the letters with which their names begin, in order.
type NameCount struct {
	Total   int
	Letters []string
}

// PlayerName is a player in a list of choices.
type PlayerName struct{ ID, Name string }
