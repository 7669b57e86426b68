package approval

import (
	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// Patch is a merge patch of a player (RFC 7396): nil leaves a member as it is,
// a pointer to the zero value clears it. Values are valid by themselves.
type Patch struct {
	Student        StudentPatch
	Guardian       *GuardianPatch
	RemoveGuardian bool
}

// Asks says whether the patch may lead to a new request: it names what a party's
// answer depends on. Sending one waits for the coach's profile.
func (p Patch) MayOpenRequest() bool {
	s := p.Student
	return s.FullName != nil || s.DateOfBirth != nil || s.Number != nil || p.Guardian != nil && p.Guardian.Number != nil
}

// StudentPatch changes what is known of the student.
type StudentPatch struct {
	FullName    *string
	DateOfBirth *Date
	Number      *phone.Number
	Medical     *string
}

// GuardianPatch changes what is known of the guardian, or names a first one.
type GuardianPatch struct {
	Name         *string
	Relationship *string
	Number       *phone.Number
	Email        *string
}

// merge applies patch and returns what the whole record then lacks.
func (p *Player) merge(patch Patch, op Operation) []fault.Field {
	set(&p.Student.FullName, patch.Student.FullName)
	set(&p.Student.DateOfBirth, patch.Student.DateOfBirth)
	set(&p.Student.Number, patch.Student.Number)
	set(&p.Student.Medical, patch.Student.Medical)
	if patch.RemoveGuardian {
		p.Guardian = nil
	}
	if g := patch.Guardian; g != nil {
		merged := Guardian{}
		if p.Guardian != nil {
			merged = *p.Guardian
		}
		set(&merged.Name, g.Name)
		set(&merged.Relationship, g.Relationship)
		set(&merged.Number, g.Number)
		set(&merged.Email, g.Email)
		p.Guardian = &merged
	}
	return p.validate(op)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Edit applies the coach's patch. A party whose number changes starts anew with
// a new request, and the old holder sees nothing more. Another name or birth
// date means another child: both parties start anew, also where a request was
// open, so that an answer meant for the one cannot count for the other. Those
// who had approved are told (contract section 4).
func (p *Player) Edit(by actor.Actor, patch Patch, rules Rules, op Operation) (Change, error) {
	if err := p.ownedBy(by); err != nil {
		return Change{}, err
	}
	before := *p
	if err := fault.Validation(p.merge(patch, op)); err != nil {
		return Change{}, err
	}
	if p.Student == before.Student && sameGuardian(p.Guardian, before.Guardian) {
		return Change{}, nil
	}
	c := Change{Save: true}
	moved := map[actor.Role]bool{}
	for _, party := range Parties {
		moved[party] = p.Number(party) != before.Number(party)
	}
	if moved[actor.Guardian] || moved[actor.Student] {
		if err := rules.checkContacts(p, p.CoachNumber); err != nil {
			return Change{}, err
		}
	}
	for _, party := range Parties {
		if moved[party] && p.disputed(party, p.Number(party)) {
			return Change{}, errDisputed(party)
		}
	}
	otherChild := p.Student.FullName != before.Student.FullName || p.Student.DateOfBirth != before.Student.DateOfBirth
	for _, party := range Parties {
		approver := p.Approver(party)
		// A request that the coach cancelled stays cancelled.
		wanted := approver.OpenRequest() != nil || approver.Consent.State != Pending
		if approver.Consent.State == Approved && !moved[party] {
			if otherChild || moved[otherParty(party)] {
				c.Events = append(c.Events, p.newEvent(event.Changed, party))
			}
		}
		switch {
		case moved[party]:
			p.changeContact(party, op, &c)
			wanted = true
		case otherChild:
			p.closeRequest(party, RequestCancelled, op.Now, &c)
			approver.Consent.restart(op.Now)
		default:
			continue
		}
		if n := p.Number(party); wanted && n != "" && !p.disputed(party, n) {
			p.newRequest(party, DefaultChannels, rules, op, &c)
		}
	}
	return c, nil
}

// Remove ends the link: open requests are cancelled, parties that had approved
// are told, what the others were sent goes from their trays, history stays.
func (p *Player) Remove(by actor.Actor, op Operation) (Change, error) {
	if err := p.ownedBy(by); err != nil {
		return Change{}, err
	}
	c := Change{Save: true}
	for _, party := range Parties {
		approver := p.Approver(party)
		p.closeRequest(party, RequestCancelled, op.Now, &c)
		if approver.AccountID == "" {
			continue
		}
		c.ForgetNotifications = append(c.ForgetNotifications, approver.AccountID)
		if approver.Consent.State == Approved {
			c.Events = append(c.Events, p.newEvent(event.Removed, party))
		}
	}
	p.DeletedAt = op.Now
	return c, nil
}

func sameGuardian(a, b *Guardian) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// other returns the opposite party.
func otherParty(party actor.Role) actor.Role {
	if party == actor.Guardian {
		return actor.Student
	}
	return actor.Guardian
}
