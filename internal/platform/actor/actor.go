// Package actor is the identity of a caller: an account in one role, in one session.
// It holds no rule; each domain package decides what an actor may do.
package actor

import (
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Role is the role of a session. A session has exactly one: a coach who is also a
// parent signs in twice.
type Role string

// The roles. Operators have none of them.
const (
	Coach    Role = "coach"
	Guardian Role = "guardian"
	Student  Role = "student"
)

// Roles lists every role, in the order in which responses name them.
var Roles = []Role{Coach, Guardian, Student}

// Valid reports whether r is one of Roles.
func (r Role) Valid() bool { return r == Coach || r == Guardian || r == Student }

// Actor is an authenticated caller.
type Actor struct {
	// AccountID identifies a mobile number in a role. For a coach it is the coach_id.
	AccountID string
	SessionID string
	Role      Role
	// Number is the account's mobile number.
	Number phone.Number
	// Network is where the request comes from, as rate limits count addresses; empty in
	// background work.
	Network string
	// SignedInAt is when the session began, by an OTP or, if Passkey, by a passkey; zero without a session.
	SignedInAt time.Time
	Passkey    bool
	// Via is how the caller reaches the service; empty in background work. Decisions record it.
	Via Via
}

// Via is a way in which a caller reaches the service.
type Via string

// The ways. Chat is a button under a message in WhatsApp, Voice a key pressed during a call. Operator is an operator who
// deletes the account for a person.
const (
	ViaPage  Via = "page"
	ViaAPI   Via = "api"
	ViaChat  Via = "chat"
	ViaVoice Via = "voice"

	ViaOperator Via = "operator"
)

// Operator is a person or program that runs the service, identified by a token or a
// shell user. Operators have no phone-number account and none of the Roles.
type Operator struct {
	// ID of the token; empty in a shell.
	ID string
	// Name of the token, or shell:<user>.
	Name string
}
