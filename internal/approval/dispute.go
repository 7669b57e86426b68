package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Dispute says that the recipient of a request is the wrong person. The coach cannot send
// further requests to this recipient. It names no guardian and no student.
type Dispute struct {
	RequestID string
	CoachID   string
	CoachName string
	// Party is the role of the recipient.
	Party actor.Role
	At    time.Time
}

// DisputeSearch selects disputes: all, or the disputes of a number or of a coach.
type DisputeSearch struct {
	Number  phone.Number
	CoachID string
	After   DisputeCursor
}

// DisputeCursor is a position in the list of disputes.
type DisputeCursor struct {
	At        time.Time
	RequestID string
}

// DisputedRequest is a request that its recipient disputed and may lift.
type DisputedRequest struct {
	RequestID  string
	DisputedAt time.Time
	// CoachName is empty if the profile has no name.
	CoachName string
	// PlayerID and StudentName are empty if the recipient is no longer a party of the player:
	// the coach deleted the player or corrected the number.
	PlayerID    string
	StudentName string
}
