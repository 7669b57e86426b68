// Package actor says who is asking: an account in one role, in one session.
// It decides nothing; each feature asks it and judges for itself.
package actor

import "github.com/touchline/touchline/internal/phone"

// Role is the one hat that a session wears. Powers never add up: a coach who
// is a parent elsewhere signs in twice.
type Role string

// The roles of people. Operators are not people with numbers.
const (
	Coach    Role = "coach"
	Guardian Role = "guardian"
	Student  Role = "student"
)

// Roles lists every role, in the order in which answers name them.
var Roles = []Role{Coach, Guardian, Student}

// Valid says whether r is one of Roles.
func (r Role) Valid() bool { return r == Coach || r == Guardian || r == Student }

// Actor is an authenticated caller.
type Actor struct {
	// AccountID is a mobile number in a role; for a coach it is the coach_id.
	AccountID string
	SessionID string
	Role      Role
	// Number is the account's mobile number.
	Number phone.Number
}
