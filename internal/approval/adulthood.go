package approval

import (
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// AdultStep is what happens next because a student becomes an adult.
type AdultStep string

// The steps, in their order. A player who was added as an adult has none.
const (
	// TurningSoon: 30 days before the 18th birthday both parties are told.
	TurningSoon AdultStep = "soon"
	// Turned: on that day they are told again, and what the student does not answer within
	// adultGrace ends.
	Turned AdultStep = "turned"
	// GuardianAlone: a guardian's approval from before that day ends, unless the student has approved.
	GuardianAlone AdultStep = "guardian_alone"
)

const (
	// adultNotice is how many days before the 18th birthday the parties are told.
	adultNotice = 30
	// adultGrace is how long services rest on the approval of the guardian of an adult.
	adultGrace = 30 * 24 * time.Hour
	// adultHour is the hour of the coach's day from which the parties are told.
	adultHour = 9
)

// AdultOn returns the day on which a person born on d becomes an adult: the 18th birthday, or 1
// March for 29 February.
func (d Date) AdultOn() Date {
	return DateOf(time.Date(d.Year+coach.AdultAge, d.Month, d.Day, 0, 0, 0, 0, time.UTC))
}

// in returns the hour of the day d in zone.
func (d Date) in(zone *time.Location, hour int) time.Time {
	return time.Date(d.Year, d.Month, d.Day, hour, 0, 0, 0, zone)
}

// stepDay returns the day of TurningSoon or Turned for a person born on d.
func (d Date) stepDay(step AdultStep) Date {
	on := d.AdultOn()
	if step == TurningSoon {
		return DateOf(on.in(time.UTC, 0).AddDate(0, 0, -adultNotice))
	}
	return on
}

// firstAdultStep returns the first step of a person born on d after now, and the earliest time at
// which it can be due in any zone. It returns "" for an adult.
func (d Date) firstAdultStep(now time.Time) (AdultStep, time.Time) {
	for _, step := range []AdultStep{TurningSoon, Turned} {
		if at := d.stepDay(step).in(time.UTC, 0); at.After(now) {
			return step, at
		}
	}
	return "", time.Time{}
}

// adultStepAt returns when TurningSoon or Turned is due for the coach's zone: in the morning of the
// day, but not before the day begins in UTC, because Player.Adult counts in UTC. East of UTC+9 that is later.
func (d Date) adultStepAt(step AdultStep, zone *time.Location) time.Time {
	day := d.stepDay(step)
	at := day.in(zone, adultHour)
	if utc := day.in(time.UTC, 0); utc.After(at) {
		return utc
	}
	return at.UTC()
}

// adultEvents returns the events of TurningSoon or Turned at now. The coach is told only if the
// student has to answer. A student without an answer, whose number may be wrong, is not told the birthday.
func (p *Player) adultEvents(step AdultStep, now time.Time, zone *time.Location) []event.Event {
	kind, day := event.TurningAdult, p.Student.DateOfBirth.AdultOn().String()
	own := p.Party(actor.Student)
	guardian, student := p.Party(actor.Guardian).Consent.State == Approved, own.Consent.State
	if step == Turned {
		kind, day = event.TurnedAdult, ""
		if guardian && student != Approved {
			day = now.Add(adultGrace).In(zone).Format(time.DateOnly)
		}
	}
	var events []event.Event
	tell := func(party actor.Role, day string) {
		e := p.newEvent(kind, party)
		e.Day = day
		events = append(events, e)
	}
	if own.AccountID != "" && (student != Pending || own.OpenRequest() != nil) {
		if step == TurningSoon && student == Pending {
			tell(actor.Student, "")
		} else {
			tell(actor.Student, day)
		}
	}
	if guardian {
		tell(actor.Guardian, day)
		if step == Turned && student != Approved {
			e := p.newEvent(event.AdultUnanswered, "")
			e.Day = day
			events = append(events, e)
		}
	}
	return events
}

// endGuardianAlone ends a guardian's approval from before the student was an adult, unless the student
// has approved. The guardian is optional from then on, so there is no new request.
func (p *Player) endGuardianAlone(op Operation) Change {
	g := &p.Party(actor.Guardian).Consent
	if p.Guardian() == nil || g.State != Approved || p.Party(actor.Student).Consent.State == Approved || !p.Adult(op.Now) ||
		!g.ChangedAt.Before(p.Student.DateOfBirth.AdultOn().in(time.UTC, 0)) {
		return Change{}
	}
	g.restart(PendingAdult, op.Now)
	return Change{Save: true}
}

// EndGuardianView removes the guardian of an adult student who has answered: the guardian no longer
// sees the player and is told, and so is the coach. Without a guardian it does nothing.
func (p *Player) EndGuardianView(by actor.Actor, op Operation) (Change, error) {
	switch {
	case by.Role != actor.Student || !p.VisibleTo(by):
		return Change{}, fault.Missing()
	case !p.Adult(op.Now):
		return Change{}, fault.New(fault.Forbidden, "role_not_allowed", "You can end your guardian's view from the age of 18.")
	case p.Party(actor.Student).Consent.State == Pending:
		return Change{}, fault.New(fault.Forbidden, "approval_pending", "Answer first. After that you can end your guardian's view.")
	case p.Guardian() == nil:
		return Change{}, nil
	}
	c := Change{Save: true, By: by}
	e := p.newEvent(event.GuardianViewEnded, "")
	guardian := p.Party(actor.Guardian)
	p.changeContact(guardian, guardian.Number, op, &c)
	guardian.Person = Person{}
	c.Events = append(c.Events, e)
	return c, nil
}
