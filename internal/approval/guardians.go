package approval

import (
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// MaxGuardians limits the guardians of a player.
const MaxGuardians = 4

// GuardianRule says whose yes the services of a student need where they need a guardian.
type GuardianRule string

// The rules.
const (
	// AnyGuardian: one yes is enough.
	AnyGuardian GuardianRule = "any"
	// AllGuardians: each guardian must say yes.
	AllGuardians GuardianRule = "all"
)

// GuardianApproval is what the answers of all guardians mean together.
type GuardianApproval string

// The values of GuardianApproval.
const (
	// GuardiansWaiting: a yes is missing, and no guardian said no.
	GuardiansWaiting GuardianApproval = "waiting"
	// GuardiansAgree: the rule is met, and no guardian said no.
	GuardiansAgree GuardianApproval = "given"
	// GuardiansRefuse: a guardian said no or took a yes back, and none says yes.
	GuardiansRefuse GuardianApproval = "refused"
	// GuardiansDisagree: a guardian says yes, and another said no or took a yes back.
	GuardiansDisagree GuardianApproval = "conflict"
)

// guardianApproval derives what the newest answers of the guardians mean together: see Consent.standing. A no that stands outweighs each yes.
func guardianApproval(rule GuardianRule, states []State) GuardianApproval {
	yes, no := 0, 0
	for _, s := range states {
		switch s {
		case Approved:
			yes++
		case Rejected, Revoked:
			no++
		}
	}
	switch {
	case yes > 0 && no > 0:
		return GuardiansDisagree
	case no > 0:
		return GuardiansRefuse
	case yes > 0 && (rule != AllGuardians || yes == len(states)):
		return GuardiansAgree
	}
	return GuardiansWaiting
}

// GuardianApproval returns what the answers of all guardians of p mean together.
func (p *Player) GuardianApproval() GuardianApproval {
	var states []State
	for _, g := range p.Guardians() {
		states = append(states, g.Consent.standing())
	}
	return guardianApproval(p.Rule, states)
}

// Place returns what the records of a guardian have about its place among the others: the position, from 1, and the
// rule. It is empty for a student.
func (p *Player) Place(a *Party) string {
	if a.Role != actor.Guardian {
		return ""
	}
	return strconv.Itoa(p.Index(a)+1) + " " + string(p.Rule)
}

// FirstName returns the part of the name of a guardian that the others see.
func (a *Party) FirstName() string {
	if words := strings.Fields(a.Name); len(words) > 0 {
		return words[0]
	}
	return ""
}

// Disagreement returns the first names of the guardians who say yes, and of those who said no or took a yes back.
func (p *Player) Disagreement() (yes, no []string) {
	for _, g := range p.Guardians() {
		switch g.Consent.standing() {
		case Approved:
			yes = append(yes, g.FirstName())
		case Rejected, Revoked:
			no = append(no, g.FirstName())
		}
	}
	return yes, no
}

// conflictEvent returns the event that the guardians of p answered differently. Only the coach learns who said what.
func (p *Player) conflictEvent() event.Event {
	e := p.NewEvent(event.GuardiansDisagree, nil)
	e.RequestID, e.PartyID = "", ""
	yes, no := p.Disagreement()
	e.Yes, e.No = yes, no
	return e
}

// tellOthers adds events for the guardians who have approved that g was added or removed. They learn the first name and
// the relationship. Others may have a wrong number, and learn nothing.
func (p *Player) tellOthers(t event.Type, g *Party, c *Change) {
	name, relationship := g.FirstName(), g.Relationship
	for _, other := range p.Guardians() {
		if other.GuardianID != g.GuardianID && other.Consent.State == Approved {
			e := p.NewEvent(t, other)
			e.OtherName, e.OtherRelationship = name, relationship
			c.Events = append(c.Events, e)
		}
	}
}

// tellAdded adds events for the other guardians, and for an adult student who has approved, that the coach added g.
func (p *Player) tellAdded(g *Party, op Operation, c *Change) {
	p.tellOthers(event.GuardianAdded, g, c)
	student := p.Party(actor.Student)
	if s := student.Consent.State; p.Adult(op.Now) && (s == Approved || s == Revoked) {
		e := p.NewEvent(event.GuardianAdded, student)
		e.OtherName, e.OtherRelationship = g.FirstName(), g.Relationship
		c.Events = append(c.Events, e)
	}
}

func errFirstGuardian() error {
	return fault.New(fault.Conflict, "first_guardian", "This is the first guardian. Say who becomes the first, or remove the others before.")
}

// errTooManyGuardians returns validation_failed for a fifth guardian.
func errTooManyGuardians(pointer string) error {
	f := fault.New(fault.Invalid, "too_many", "A player can have at most %d guardians.", MaxGuardians)
	f.Fields = []fault.Field{{Pointer: pointer, Code: "too_many", Detail: f.Message}}
	return f
}

// AddGuardian adds a guardian of a player of the calling coach, and asks them.
func (p *Player) AddGuardian(by actor.Actor, person Person, rules Rules, op Operation) (*Party, Change, error) {
	if err := p.ownedBy(by); err != nil {
		return nil, Change{}, err
	}
	if len(p.Guardians()) >= MaxGuardians {
		return nil, Change{}, errTooManyGuardians("")
	}
	i, added := 0, p.Guardian() != nil // 0: the place of a missing first guardian
	if added {
		i = len(p.Parties) - 1
		p.Parties = slices.Insert(slices.Clone(p.Parties), i, Party{
			Role: actor.Guardian, GuardianID: op.NewID(), Consent: Consent{State: Pending, PendingSince: op.Now, PendingReason: PendingAdded},
		})
	}
	a := &p.Parties[i]
	a.Person = person
	faults := append(p.validate(op, true), op.checkName(p.pointer(i)+"/name", person.Name)...)
	if err := fault.Validation(faults); err != nil {
		return nil, Change{}, err
	}
	if err := rules.checkContacts(p, p.CoachNumber); err != nil {
		return nil, Change{}, err
	}
	if p.disputed(a.Role, a.Number) {
		return nil, Change{}, errDisputed(a.Role)
	}
	c := Change{Save: true, By: by}
	if added {
		p.tellAdded(a, op, &c)
	} else {
		p.changeContact(a, "", op, &c)
	}
	p.newRequest(a, rules.defaultChannels(a), rules, op, &c)
	return a, c, nil
}

// RemoveGuardian removes a guardian of a player of the calling coach. If it is the first and others stay, next becomes
// the first. A minor keeps at least one.
func (p *Player) RemoveGuardian(by actor.Actor, guardianID, next string, op Operation) (Change, error) {
	if err := p.ownedBy(by); err != nil {
		return Change{}, err
	}
	a, err := p.find(actor.Guardian, guardianID)
	if err != nil || guardianID == "" {
		return Change{}, fault.Missing()
	}
	others := len(p.Guardians()) - 1
	switch {
	case others == 0 && !p.Adult(op.Now):
		return Change{}, fault.Validation([]fault.Field{{Pointer: "", Code: "required", Detail: GuardianNeeded}})
	case others > 0 && p.Index(a) == 0:
		if next == "" {
			return Change{}, errFirstGuardian()
		}
		if n, err := p.find(actor.Guardian, next); err != nil || n == a {
			return Change{}, fault.Validation([]fault.Field{{Pointer: "/next", Code: "unknown_guardian", Detail: "This must be another guardian of the player."}})
		}
	default:
		next = ""
	}
	c := Change{Save: true, By: by, FormerGuardian: a.AccountID}
	former := p.Parties[0].GuardianID
	if next != "" {
		first := 1
		p.move(Patch{GuardianID: next, Position: &first})
	}
	p.drop(p.Find(actor.Guardian, guardianID), op, &c)
	p.tellNowFirst(former, &c)
	return c, nil
}

// drop ends a guardian of p, with its request and its view of the player.
func (p *Player) drop(a *Party, op Operation, c *Change) {
	was := *a
	p.changeContact(a, a.Number, op, c)
	a.Person = Person{}
	p.tellOthers(event.GuardianRemoved, &was, c)
	p.closePlace(a)
}

// closePlace removes the empty place of a guardian. The only one stays: another person can get it.
func (p *Player) closePlace(a *Party) {
	if i := p.Index(a); i > 0 || len(p.Guardians()) > 0 {
		p.Parties = slices.Delete(slices.Clone(p.Parties), i, i+1)
	}
}

// tellNowFirst says to the guardian who became the first in place of a former one that it did, with the event that the former one went.
func (p *Player) tellNowFirst(former string, c *Change) {
	for i := range c.Events {
		if e := &c.Events[i]; e.Type == event.GuardianRemoved && e.GuardianID != former && e.GuardianID == p.Parties[0].GuardianID {
			e.Reason = event.NowFirst
		}
	}
}

// move moves a guardian to the position of a patch, and reports whether the order changed.
func (p *Player) move(patch Patch) bool {
	if patch.Position == nil {
		return false
	}
	a := p.Find(actor.Guardian, patch.GuardianID)
	from, to := p.Index(a), min(max(*patch.Position, 1), len(p.Parties)-1)-1
	if from == to {
		return false
	}
	moved := *a
	parties := slices.Delete(slices.Clone(p.Parties), from, from+1)
	p.Parties = slices.Insert(parties, to, moved)
	return true
}
