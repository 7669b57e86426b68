package notify

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/phone"
)

// Kind says what a delivery that leaves the service carries.
type Kind string

// The kinds, in the order in which they go: somebody is waiting for a code.
const (
	OTP      Kind = "otp"
	Request  Kind = "request"
	Reminder Kind = "reminder"
)

// Kinds lists every kind.
var Kinds = []Kind{OTP, Request, Reminder}

// Delivery is one SMS that a worker has claimed. It holds no text: that is made
// when it is sent, from what then stands.
type Delivery struct {
	ID   string
	Kind Kind
	To   phone.Number
	Role actor.Role
	// Lease is the claim: whoever finishes must still hold it.
	Lease string
	// Attempts counts this one too.
	Attempts  int
	GivesUpAt time.Time
	// Held says that it waited for a cap on what one coach may send.
	Held bool

	CoachID, RequestID, ChallengeID, DeviceID string
}

// Asked is what the message of a request says.
type Asked struct {
	Party       actor.Role
	CoachName   string
	StudentName string
}
