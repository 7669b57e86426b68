package approval

import (
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Patch is a merge patch of a player (RFC 7396): nil keeps a field, a pointer to
// the zero value clears it. Each value has been validated; merge validates the whole player.
type Patch struct {
	Student        StudentPatch
	Guardian       *GuardianPatch
	RemoveGuardian bool
}

// MayOpenRequest reports whether the patch changes a field that consent depends on,
// so that it may open a request. Opening a request requires a complete coach profile.
// Removing the student's number opens none.
func (p Patch) MayOpenRequest() bool {
	s := p.Student
	return s.FullName != nil || s.DateOfBirth != nil || s.Number != nil && *s.Number != "" || p.Guardian != nil && p.Guardian.Number != nil
}

// StudentPatch changes the student.
type StudentPatch struct {
	FullName    *string
	DateOfBirth *Date
	Number      *phone.Number
	Medical     *string
	Language    *string
}

// GuardianPatch changes or adds the guardian.
type GuardianPatch struct {
	Name         *string
	Relationship *string
	Number       *phone.Number
	Email        *string
	Language     *string
}

// merge applies patch and validates the result.
func (p *Player) merge(patch Patch, op Operation) []fault.Field {
	var faults []fault.Field
	if name := patch.Student.FullName; name != nil && *name != p.Student.FullName {
		faults = op.checkName("/student/full_name", *name)
	}
	set(&p.Student.FullName, patch.Student.FullName)
	set(&p.Student.DateOfBirth, patch.Student.DateOfBirth)
	set(&p.Student.Number, patch.Student.Number)
	if text := patch.Student.Medical; text != nil {
		p.Student.Medical, p.Student.HasMedical = *text, *text != ""
	}
	set(&p.Student.Language, patch.Student.Language)
	if patch.RemoveGuardian {
		p.Guardian = nil
	}
	if g := patch.Guardian; g != nil {
		merged := Guardian{}
		if p.Guardian != nil {
			merged = *p.Guardian
		}
		if g.Name != nil && *g.Name != merged.Name {
			faults = append(faults, op.checkName("/guardian/name", *g.Name)...)
		}
		set(&merged.Name, g.Name)
		set(&merged.Relationship, g.Relationship)
		set(&merged.Number, g.Number)
		set(&merged.Email, g.Email)
		set(&merged.Language, g.Language)
		p.Guardian = &merged
	}
	return append(p.validate(op), faults...)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Edit applies the coach's patch. A new number closes the party's request, opens
// one to the new number and hides the player from the old one. A new name or birth
// date means another student: both consents restart, also if a request was open, so
// that a response about one student cannot count for another. Parties that had
// approved are notified.
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
	c := Change{Save: true, By: by}
	numberChanged := map[actor.Role]bool{}
	for _, party := range Parties {
		numberChanged[party] = p.Number(party) != before.Number(party)
	}
	if numberChanged[actor.Guardian] || numberChanged[actor.Student] {
		if err := rules.checkContacts(p, p.CoachNumber); err != nil {
			return Change{}, err
		}
	}
	for _, party := range Parties {
		if numberChanged[party] && p.disputed(party, p.Number(party)) {
			return Change{}, errDisputed(party)
		}
	}
	otherStudent := p.Student.FullName != before.Student.FullName || p.Student.DateOfBirth != before.Student.DateOfBirth
	for _, party := range Parties {
		approver := p.Approver(party)
		// Pending without an open request: it was cancelled or disputed, and is not replaced.
		needsRequest := approver.OpenRequest() != nil || approver.Consent.State != Pending
		if approver.Consent.State == Approved && !numberChanged[party] {
			if changes := p.changes(&before, otherParty(party)); len(changes) > 0 {
				e := p.newEvent(event.Changed, party)
				e.Changes = changes
				c.Events = append(c.Events, e)
			}
		}
		switch {
		case numberChanged[party]:
			p.changeContact(party, before.Number(party), op, &c)
			needsRequest = true
		case otherStudent:
			p.closeRequest(party, RequestCancelled, op.Now, &c)
			approver.Consent.restart(PendingStudent, op.Now)
		default:
			continue
		}
		if n := p.Number(party); needsRequest && n != "" && !p.disputed(party, n) {
			p.newRequest(party, rules.defaultChannels(p, party), rules, op, &c)
		}
	}
	return c, nil
}

// changes returns the differences from before that concern a party: the student's name and
// birth date, and the number of the other party.
func (p *Player) changes(before *Player, other actor.Role) []event.Change {
	var changes []event.Change
	add := func(change event.Change, differs bool) {
		if differs {
			changes = append(changes, change)
		}
	}
	add(event.NameChanged, p.Student.FullName != before.Student.FullName)
	add(event.BirthDateChanged, p.Student.DateOfBirth != before.Student.DateOfBirth)
	number := event.StudentNumberChanged
	if other == actor.Guardian {
		number = event.GuardianNumberChanged
	}
	add(number, p.Number(other) != before.Number(other))
	return changes
}

// Remove deletes the player: it cancels open requests, notifies parties that had
// approved and deletes the notifications of the others. The history stays.
func (p *Player) Remove(by actor.Actor, op Operation) (Change, error) {
	if err := p.ownedBy(by); err != nil {
		return Change{}, err
	}
	c := p.remove(op)
	c.By = by
	return c, nil
}

func (p *Player) remove(op Operation) Change {
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
	return c
}

func sameGuardian(a, b *Guardian) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func otherParty(party actor.Role) actor.Role {
	if party == actor.Guardian {
		return actor.Student
	}
	return actor.Guardian
}
