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
	// Notices carry a notification, whose id they have. There may be thousands of
	// them when a coach leaves, and nothing waits behind them.
	Notices Kind = "notice"
)

// Kinds lists every kind.
var Kinds = []Kind{OTP, Request, Reminder, Notices}

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
	// Held says that it was not counted against the caps yet, or waited for one.
	Held bool

	CoachID, RequestID, ChallengeID, DeviceID string
}

// Asked is what the message of a request says.
type Asked struct {
	Party       actor.Role
	CoachName   string
	StudentName string
}

// Notice is a notification that goes by SMS too.
type Notice struct {
	Type Type
	Text string
	// Readable says that the recipient holds the role still, and can sign in to
	// read it.
	Readable bool
}

// Wanted says whether it is worth an SMS: that a coach has left always is, that
// one player was removed where nobody could read it otherwise.
func (n Notice) Wanted() bool { return n.Type == CoachLeft || !n.Readable }
