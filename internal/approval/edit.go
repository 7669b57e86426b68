package approval

import (
	"slices"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Patch is a merge patch of a player (RFC 7396): nil keeps a field, a pointer to
// the zero value clears it. Each value has been validated; merge validates the whole player.
type Patch struct {
	Student StudentPatch
	// Guardian changes the guardian with GuardianID, the first one if that is empty.
	Guardian       *GuardianPatch
	GuardianID     string
	RemoveGuardian bool
	Rule           *GuardianRule
	// Position moves the guardian with GuardianID there; 1 makes it the first.
	Position *int
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
	set(&p.Rule, patch.Rule)
	if name := patch.Student.FullName; name != nil && *name != p.Student.FullName {
		faults = op.checkName("/student/full_name", *name)
	}
	set(&p.Student.FullName, patch.Student.FullName)
	set(&p.Student.DateOfBirth, patch.Student.DateOfBirth)
	student, guardian := p.Party(actor.Student), p.Find(actor.Guardian, patch.GuardianID)
	set(&student.Number, patch.Student.Number)
	if text := patch.Student.Medical; text != nil {
		p.Student.Medical, p.Student.HasMedical = *text, *text != ""
	}
	set(&student.Language, patch.Student.Language)
	if patch.RemoveGuardian {
		guardian.Person = Person{}
	}
	if g := patch.Guardian; g != nil {
		if g.Name != nil && *g.Name != guardian.Name {
			faults = append(faults, op.checkName(p.pointer(p.Index(guardian))+"/name", *g.Name)...)
		}
		set(&guardian.Name, g.Name)
		set(&guardian.Relationship, g.Relationship)
		set(&guardian.Number, g.Number)
		set(&guardian.Email, g.Email)
		set(&guardian.Language, g.Language)
	}
	return append(p.validate(op, patch.Guardian != nil), faults...)
}

// Index returns the index of a party of p.
func (p *Player) Index(a *Party) int {
	return slices.IndexFunc(p.Parties, func(b Party) bool { return b.Role == a.Role && b.GuardianID == a.GuardianID })
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
	if _, err := p.find(actor.Guardian, patch.GuardianID); err != nil {
		return Change{}, err
	}
	if patch.RemoveGuardian && len(p.Guardians()) > 1 {
		return Change{}, errFirstGuardian()
	}
	before := p.Copy()
	if err := fault.Validation(p.merge(patch, op)); err != nil {
		return Change{}, err
	}
	moved := p.move(patch)
	if moved {
		before.move(patch)
	}
	same, sameNumbers := p.Student == before.Student && p.Rule == before.Rule && !moved, true
	for i, a := range p.Parties {
		same, sameNumbers = same && a.Person == before.Parties[i].Person, sameNumbers && a.Number == before.Parties[i].Number
	}
	if same {
		return Change{}, nil
	}
	c := Change{Save: true, By: by}
	if patch.RemoveGuardian {
		c.FormerGuardian = p.Find(actor.Guardian, patch.GuardianID).AccountID
	}
	if !sameNumbers {
		if err := rules.checkContacts(p, p.CoachNumber); err != nil {
			return Change{}, err
		}
	}
	for i, a := range p.Parties {
		if a.Number != before.Parties[i].Number && p.disputed(a.Role, a.Number) {
			return Change{}, errDisputed(a.Role)
		}
	}
	otherStudent := p.Student.FullName != before.Student.FullName || p.Student.DateOfBirth != before.Student.DateOfBirth
	for i := range p.Parties {
		a, number := &p.Parties[i], before.Parties[i].Number
		// Pending without a question: it was cancelled or disputed, or the coach has not asked since a yes ended. It is not replaced.
		needsRequest := a.Question() != nil || a.Consent.State != Pending
		if a.Consent.State == Approved && a.Number == number {
			if changes := p.changes(before, otherParty(a.Role)); len(changes) > 0 {
				e := p.NewEvent(event.Changed, a)
				e.Changes = changes
				c.Events = append(c.Events, e)
			}
		}
		switch {
		case a.Number != number:
			p.changeContact(a, number, op, &c)
			needsRequest = true
		case otherStudent:
			a.closeRequest(RequestCancelled, op.Now, &c)
			a.Consent.restart(PendingStudent, op.Now)
		default:
			continue
		}
		if needsRequest && a.Number != "" && !p.disputed(a.Role, a.Number) {
			p.newRequest(a, rules.defaultChannels(a), rules, op, &c)
		}
	}
	return c, nil
}

// changes returns the differences from before that concern a party: the student's name and birth date, and the number
// of the other party. The student learns of the number of each guardian; a guardian not of another's.
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
	for i, a := range p.Parties {
		if a.Role == other && a.Number != before.Parties[i].Number {
			add(number, true)
			break
		}
	}
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
	for i := range p.Parties {
		a := &p.Parties[i]
		a.closeRequest(RequestCancelled, op.Now, &c)
		if a.AccountID == "" {
			continue
		}
		c.ForgetNotifications = append(c.ForgetNotifications, a.AccountID)
		if a.Consent.State == Approved {
			c.Events = append(c.Events, p.NewEvent(event.Removed, a))
		}
	}
	p.DeletedAt = op.Now
	return c
}

func otherParty(party actor.Role) actor.Role {
	if party == actor.Guardian {
		return actor.Student
	}
	return actor.Guardian
}
