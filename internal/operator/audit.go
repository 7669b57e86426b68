package operator

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
)

// What operators do, as the audit log names it.
const (
	TokenCreated   = "token.create"
	TokenRevoked   = "token.revoke"
	SessionRevoked = "session.revoke"
	CoachFound     = "coach.find"
	CoachRead      = "coach.read"
	CoachTier      = "coach.tier"
	CoachSuspended = "coach.suspend"
	CoachRestored  = "coach.restore"
	KYCRead        = "kyc.read"
	KYCApproved    = "kyc.approve"
	KYCRejected    = "kyc.reject"
	DocumentRead   = "document.read"
)

// Entry is one row of the audit log: what one operator did to one object. Detail
// never holds personal data. Nothing changes or removes an entry.
type Entry struct {
	ID         string
	At         time.Time
	By         actor.Operator
	Action     string
	ObjectKind string
	// ObjectID is empty where it was no one object, as in a search.
	ObjectID string
	Detail   string
}
