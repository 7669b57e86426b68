package approval

import (
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// newPlayer returns a player of the calling coach with both consents pending, or a
// fault. guardian is nil for an adult student without one.
func newPlayer(by actor.Actor, student Student, guardian *Guardian, rules Rules, op Operation) (*Player, error) {
	p := &Player{
		ID: op.NewID(), CoachID: by.AccountID, Version: 1,
		Student: student, Guardian: guardian, CreatedAt: op.Now,
	}
	p.Student.HasMedical = student.Medical != ""
	if p.Student.Basis.Kind == "" {
		p.Student.Basis.Kind = rules.DefaultBasis()
	}
	for _, party := range Parties {
		p.Approver(party).Consent = Consent{State: Pending, PendingSince: op.Now, PendingReason: PendingAdded}
	}
	faults := append(p.validate(op), op.checkName("/student/full_name", student.FullName)...)
	if guardian != nil {
		faults = append(faults, op.checkName("/guardian/name", guardian.Name)...)
	}
	if err := fault.Validation(faults); err != nil {
		return nil, err
	}
	return p, rules.checkContacts(p, by.Number)
}

// openFirstRequests opens the first requests of a new player. The store calls it in
// the transaction that adds the player, once the disputes and the coach's name and
// number are loaded. The roster is checked last, after every conflict, because
// limits of the tier are the last check (openapi.yaml, section Problems).
func (p *Player) openFirstRequests(rules Rules, op Operation, roster Roster) (Change, error) {
	// Check again: the coach's number may have changed since the session was read.
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
		p.newRequest(party, rules.defaultChannels(p, party), rules, op, &c)
	}
	if rules.CheckRoster != nil {
		return c, rules.CheckRoster(roster)
	}
	return c, nil
}

// GuardianNeeded is the text for a minor without a guardian.
const GuardianNeeded = "A student under 18 needs a guardian."

// validate returns a fault for each required field that is empty.
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
