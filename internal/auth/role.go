package auth

import "github.com/touchline/touchline/internal/platform/actor"

// RoleFacts are the reasons for which a number holds a role, and whether it gets a code.
type RoleFacts struct {
	// Registered: a coach who has signed in before and not closed the account.
	Registered bool
	// Linked: a player names the number as its guardian or student.
	Linked bool
	// Disputed: the number has disputed a request, and must be able to lift that.
	Disputed bool
	// Blocked: too many wrong codes block the number or device, so that no code leaves.
	Blocked bool
}

// Held reports whether the number holds the role.
func (f RoleFacts) Held() bool { return f.Registered || f.Linked || f.Disputed }

// MaySignIn reports whether the number may sign in as role. Every number may sign in
// as coach: the first sign-in registers the coach.
func (f RoleFacts) MaySignIn(role actor.Role) bool { return role == actor.Coach || f.Held() }
