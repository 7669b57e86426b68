package approval

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// Rules are the settings that the core obeys (spec section 8, contract section 6).
type Rules struct {
	// ResendAfter is how long an open request rests before it may go out again.
	ResendAfter time.Duration
	// RemindersPerWindow for a player and party in any ReminderWindow.
	RemindersPerWindow int
	ReminderWindow     time.Duration
	// RequireGuardianForMinors makes a minor's app services wait for the guardian too.
	RequireGuardianForMinors bool
	// AllowCoachAsContact lets a coach name their own number as a contact.
	AllowCoachAsContact bool
	// Reachable says whether an SMS may go to the number's country.
	Reachable func(phone.Number) bool
	// TestNumber says whether n is configured for app-store review.
	TestNumber func(n phone.Number) bool
	// Room says why a coach may not have all the players of a roster; nil is room
	// for any number.
	CheckRoster func(Roster) error
}

// Roster is how many players a coach has, and what decides how many there may be.
type Roster struct {
	Players int64
	// Tier and KYC are the names of the coach's subscription tier and of where the
	// verification stands, as they are kept.
	Tier, KYC string
}

// Moment is when something happens, and where its ids come from.
type Operation struct {
	Now   time.Time
	NewID func() string
}

// checkContacts refuses a contact that is the coach's own number, and any mix
// of test numbers with real ones (contract sections 2 and 4).
func (r Rules) checkContacts(p *Player, coach phone.Number) error {
	var conflicts []fault.Field
	for _, party := range Parties {
		n := p.Number(party)
		pointer := "/guardian/mobile_number"
		if party == actor.Student {
			pointer = "/student/contact_number"
		}
		switch {
		case n == "":
		case n == coach && !r.AllowCoachAsContact:
			conflicts = append(conflicts, fault.Field{
				Pointer: pointer, Code: "own_number", Detail: "This is your own number; give the number of the " + string(party) + ".",
			})
		case r.TestNumber(n) != r.TestNumber(coach):
			conflicts = append(conflicts, fault.Field{
				Pointer: pointer, Code: "test_number", Detail: "Test numbers can be linked with one another alone.",
			})
		}
	}
	if len(conflicts) == 0 {
		return nil
	}
	f := fault.New(fault.Invalid, "contact_conflict", "%s", conflicts[0].Detail)
	f.Fields = conflicts
	return f
}

// disputed says whether the holder of n wants no request as party.
func (p *Player) disputed(party actor.Role, n phone.Number) bool {
	for _, c := range p.Disputes {
		if c.Party == party && c.Number == n {
			return true
		}
	}
	return false
}

// CheckDisputes answers contact_disputed where one of the requests about to be
// saved goes to a contact that wants none.
func (p *Player) CheckDisputes(opened []*Request) error {
	for _, r := range opened {
		if p.disputed(r.Party, p.Number(r.Party)) {
			return errDisputed(r.Party)
		}
	}
	return nil
}

func errDisputed(party actor.Role) error {
	return fault.New(fault.Conflict, "contact_disputed",
		"The holder of this number said that the request was not for them. Give the right number of the %s, or ask its holder to lift the dispute.", party)
}

func errNoOpenRequest() error {
	return fault.New(fault.Conflict, "no_open_request", "No request is open here; send one first.")
}
