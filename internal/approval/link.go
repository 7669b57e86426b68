package approval

import (
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// LinkState is the request of the link in a message or of a short code. It is the zero
// LinkState unless the link is valid and the request is open, so that no other link
// reveals a name. Of a link that is only too old it has Old alone.
type LinkState struct {
	Open bool
	// Old: the request is open, but the link is no longer valid. The party can still answer
	// after a sign-in.
	Old       bool
	RequestID string
	PlayerID  string
	// Party is the role that is asked.
	Party actor.Role
	// Number is the number that was asked. Pages show only phone.Number.Ending of it.
	Number phone.Number
	// CoachID is empty for a short code.
	CoachID string
	// BatchName is a batch of the student, if the link left to Number itself: the message names it, too.
	BatchName string
	// CoachName is empty if the profile has no name.
	CoachName   string
	StudentName string
	// Version is the version of the request, which shows these names.
	Version int64
	// CoachTier is the stored name of the coach's tier. It is empty for a short code.
	CoachTier string
	// Adult reports whether the student is 18 or older, so that a guardian is optional.
	Adult bool
	// OthersOpen reports whether Number has other open requests as Party.
	OthersOpen bool
	// ToNumber reports whether the link left to Number itself, and not to an e-mail address.
	// It is false for a short code.
	ToNumber bool
}
