package approval

import (
	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// NewPlayer returns a player of the coach by, both consents pending, and the
// change that asks each party for which there is a number. Guardian may be nil
// for an adult student alone.
func NewPlayer(by actor.Actor, student Student, guardian *Guardian, rules Rules, op Operation) (*Player, error) {
	p := &Player{
		ID: op.NewID(), CoachID: by.AccountID, Version: 1,
		Student: student, Guardian: guardian, CreatedAt: op.Now,
	}
	for _, party := range Parties {
		p.Approver(party).Consent = Consent{State: Pending, PendingSince: op.Now}
	}
	if err := fault.Validation(p.validate(op)); err != nil {
		return nil, err
	}
	return p, rules.checkContacts(p, by.Number)
}

// askFirst opens the first requests of a new player. The store calls it in the
// transaction that adds the player, once it knows the disputes, the names and the
// coach's number as it is. Whether there is room for the player comes after every
// conflict (contract section 1, order of checks).
func (p *Player) openFirstRequests(rules Rules, op Operation, roster Roster) (Change, error) {
	// Once more, for the coach's number may have changed since the sign-in was read.
	if err := rules.checkContacts(p, p.CoachNumber); err != nil {
		return Change{}, err
	}
	c := Change{Save: true}
	for _, party := range Parties {
		n := p.Number(party)
		if n == "" {
			continue
		}
		if p.disputed(party, n) {
			return Change{}, errDisputed(party)
		}
		p.newRequest(party, DefaultChannels, rules, op, &c)
	}
	if rules.CheckRoster != nil {
		return c, rules.CheckRoster(roster)
	}
	return c, nil
}

// GuardianNeeded says why a player without a guardian is refused.
const GuardianNeeded = "A student under 18 needs a guardian."

// missing returns what a whole record lacks.
func (p *Player) validate(op Operation) []fault.Field {
	var faults []fault.Field
	if p.Guardian == nil {
		if !p.Adult(op.Now) {
			faults = append(faults, fault.Field{Pointer: "/guardian", Code: "required", Detail: GuardianNeeded})
		}
		return faults
	}
	need := func(pointer, value string) {
		if value == "" {
			faults = append(faults, fault.Field{Pointer: pointer, Code: "required", Detail: "This is needed."})
		}
	}
	need("/guardian/name", p.Guardian.Name)
	need("/guardian/relationship", p.Guardian.Relationship)
	need("/guardian/mobile_number", string(p.Guardian.Number))
	return faults
}
