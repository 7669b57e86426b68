package approval

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// Player is one coach–student link: one record with two consents. A student
// with three coaches is three players (spec section 3, rule 6).
type Player struct {
	ID      string
	CoachID string
	// CoachName is what the coach calls themself now.
	CoachName string
	// Version grows with each save; a save of an older one is refused.
	Version int64

	Student Student
	// Guardian is nil where an adult student has none.
	Guardian *Guardian

	GuardianApprover Approver
	StudentApprover  Approver

	// CoachNumber is the coach's own number. Loaded together with Disputes.
	CoachNumber phone.Number
	// Disputes are the contacts that want no request from this coach for this
	// student. Loaded by AddPlayer, and where Load asks for them.
	Disputes []Contact

	CreatedAt time.Time
	// DeletedAt is zero while the coach keeps the player.
	DeletedAt time.Time
}

// Student is what the coach enters of a student (spec section 2.5).
type Student struct {
	FullName    string
	DateOfBirth Date
	// Number is empty while the coach knows none.
	Number phone.Number
	// Medical is shown to the coach, the guardian and an adult student only,
	// sealed at rest, and never logged.
	Medical string
}

// Guardian is what the coach enters of a guardian (spec section 2.5).
type Guardian struct {
	Name         string
	Relationship string
	Number       phone.Number
	Email        string
}

// Contact is a number in the role in which it is asked.
type Contact struct {
	Party  actor.Role
	Number phone.Number
}

// Side is one party's half of a player: who is asked, the answer, the question.
type Approver struct {
	// AccountID is who may answer; empty while there is no number to ask.
	AccountID string
	Consent   Consent
	// Request is the newest one, whatever its state; nil where there was none.
	Request *Request
	// Reminders were sent within the window, oldest first. Loaded where Load asks
	// for them.
	Reminders []time.Time
}

// Open returns the party's open request, or nil.
func (a *Approver) OpenRequest() *Request {
	if a.Request != nil && a.Request.State == RequestPending {
		return a.Request
	}
	return nil
}

// Side returns the half of party, which is actor.Guardian or actor.Student.
func (p *Player) Approver(party actor.Role) *Approver {
	if party == actor.Guardian {
		return &p.GuardianApprover
	}
	return &p.StudentApprover
}

// Number returns the number at which party is asked; empty where there is none.
func (p *Player) Number(party actor.Role) phone.Number {
	if party == actor.Student {
		return p.Student.Number
	}
	if p.Guardian == nil {
		return ""
	}
	return p.Guardian.Number
}

// GuardianName returns the guardian's name, or "" where there is no guardian.
func (p *Player) GuardianName() string {
	if p.Guardian == nil {
		return ""
	}
	return p.Guardian.Name
}

// Adult says whether the student is 18 or older on the UTC date of now.
func (p *Player) Adult(now time.Time) bool { return p.Student.DateOfBirth.AgeOn(now) >= AdultAge }

// SharedContact says whether guardian and student are asked at one number.
func (p *Player) SharedContact() bool {
	return p.Student.Number != "" && p.Number(actor.Guardian) == p.Student.Number
}

// VisibleTo says whether by may know that the player exists.
func (p *Player) VisibleTo(by actor.Actor) bool {
	if !p.DeletedAt.IsZero() {
		return false
	}
	switch by.Role {
	case actor.Coach:
		return p.CoachID == by.AccountID
	case actor.Guardian, actor.Student:
		return p.Approver(by.Role).AccountID == by.AccountID && by.AccountID != ""
	}
	return false
}

// ownedBy returns not_found unless by is the player's coach.
func (p *Player) ownedBy(by actor.Actor) error {
	if by.Role != actor.Coach || !p.VisibleTo(by) {
		return fault.Missing()
	}
	return nil
}

// fact returns an event about party with the ids and names that all share.
func (p *Player) newEvent(t event.Type, party actor.Role) event.Event {
	e := event.Event{
		Type: t, Party: party,
		CoachID: p.CoachID, PlayerID: p.ID, PartyID: p.Approver(party).AccountID,
		CoachName: p.CoachName, StudentName: p.Student.FullName, GuardianName: p.GuardianName(),
	}
	if r := p.Approver(party).Request; r != nil {
		e.RequestID = r.ID
	}
	return e
}
