package approval

import (
	"cmp"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// NewPlayer returns a player of the calling coach with both consents pending, or a
// fault. guardians are empty for an adult student without one.
func NewPlayer(by actor.Actor, student Student, guardians []Person, rules Rules, op Operation) (*Player, error) {
	p := &Player{
		ID: op.NewID(), CoachID: by.AccountID, Version: 1,
		Student:   Child{FullName: student.FullName, DateOfBirth: student.DateOfBirth, HasMedical: student.Medical != "", Medical: student.Medical, Basis: student.Basis},
		CreatedAt: op.Now,
	}
	if len(guardians) > MaxGuardians {
		return nil, errTooManyGuardians("/guardians")
	}
	for _, g := range guardians {
		p.Parties = append(p.Parties, Party{Role: actor.Guardian, Person: g})
	}
	if len(guardians) == 0 {
		p.Parties = append(p.Parties, Party{Role: actor.Guardian})
	}
	for i := range p.Parties {
		p.Parties[i].GuardianID = op.NewID()
	}
	p.Parties = append(p.Parties, Party{Role: actor.Student})
	p.Rule = cmp.Or(student.Rule, AnyGuardian)
	p.Party(actor.Student).Number, p.Party(actor.Student).Language = student.Number, student.Language
	if p.Student.Basis.Kind == "" {
		p.Student.Basis.Kind = rules.DefaultBasis()
	}
	for i := range p.Parties {
		p.Parties[i].Consent = Consent{State: Pending, PendingSince: op.Now, PendingReason: PendingAdded}
	}
	faults := append(p.validate(op, len(guardians) > 0), op.checkName("/student/full_name", student.FullName)...)
	for i, g := range guardians {
		faults = append(faults, op.checkName(p.pointer(i)+"/name", g.Name)...)
	}
	if err := fault.Validation(faults); err != nil {
		return nil, err
	}
	return p, rules.checkContacts(p, by.Number)
}

// OpenFirstRequests opens the first requests of a new player. The store calls it in
// the transaction that adds the player, once the disputes and the coach's name and
// number are loaded. The roster is checked last, after every conflict, because
// limits of the tier are the last check (openapi.yaml, section Problems).
func (p *Player) OpenFirstRequests(rules Rules, op Operation, roster Roster) (Change, error) {
	// Check again: the coach's number may have changed since the session was read.
	if err := rules.checkContacts(p, p.CoachNumber); err != nil {
		return Change{}, err
	}
	c := Change{Save: true}
	for i := range p.Parties {
		a := &p.Parties[i]
		if a.Number == "" {
			continue
		}
		if p.disputed(a.Role, a.Number) {
			return Change{}, errDisputed(a.Role)
		}
		p.newRequest(a, rules.defaultChannels(a), rules, op, &c)
	}
	if rules.CheckRoster != nil {
		return c, rules.CheckRoster(roster)
	}
	return c, nil
}

// GuardianNeeded is the text for a minor without a guardian.
const GuardianNeeded = "A student under 18 needs a guardian."

// validate returns a fault for each required field that is empty. named reports whether the coach entered a guardian.
func (p *Player) validate(op Operation, named bool) []fault.Field {
	var faults []fault.Field
	if !named && len(p.Guardians()) == 0 {
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
	for i := range p.Parties {
		g := &p.Parties[i]
		if g.Role != actor.Guardian || g.Person == (Person{}) && len(p.Guardians()) > 0 {
			continue
		}
		pointer := p.pointer(i)
		need(pointer+"/name", g.Name)
		need(pointer+"/relationship", g.Relationship)
		need(pointer+"/mobile_number", string(g.Number))
	}
	return faults
}
