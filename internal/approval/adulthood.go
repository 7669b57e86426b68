package approval

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
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
	return DateOf(time.Date(d.Year+team.AdultAge, d.Month, d.Day, 0, 0, 0, 0, time.UTC))
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

// FirstAdultStep returns the first step of a person born on d after now, and the earliest time at
// which it can be due in any zone. It returns "" for an adult.
func (d Date) FirstAdultStep(now time.Time) (AdultStep, time.Time) {
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

// AdultEvents returns the events of TurningSoon or Turned at now. The coach is told only if the
// student has to answer. A student without an answer, whose number may be wrong, is not told the birthday.
func (p *Player) AdultEvents(step AdultStep, now time.Time, zone *time.Location) []event.Event {
	kind, day := event.TurningAdult, p.Student.DateOfBirth.AdultOn().String()
	own := p.Party(actor.Student)
	student := own.Consent.State
	guardian := slices.ContainsFunc(p.Parties, func(a Party) bool { return a.Role == actor.Guardian && a.Consent.State == Approved })
	if step == Turned {
		kind, day = event.TurnedAdult, ""
		if guardian && student != Approved {
			day = now.Add(adultGrace).In(zone).Format(time.DateOnly)
		}
	}
	var events []event.Event
	tell := func(party *Party, day string) {
		e := p.NewEvent(kind, party)
		e.Day = day
		events = append(events, e)
	}
	if own.AccountID != "" && (student != Pending || own.OpenRequest() != nil) {
		if step == TurningSoon && student == Pending {
			tell(own, "")
		} else {
			tell(own, day)
		}
	}
	for _, g := range p.Guardians() {
		if g.Consent.State == Approved {
			tell(g, day)
		}
	}
	if guardian {
		if step == Turned && student != Approved {
			e := p.NewEvent(event.AdultUnanswered, nil)
			e.Day = day
			events = append(events, e)
		}
	}
	return events
}

// EndGuardianAlone ends each guardian's approval from before the student was an adult, unless the student
// has approved. The guardian is optional from then on, so there is no new request.
func (p *Player) EndGuardianAlone(op Operation) Change {
	if p.Party(actor.Student).Consent.State == Approved || !p.Adult(op.Now) {
		return Change{}
	}
	ended := false
	for _, a := range p.Guardians() {
		if g := &a.Consent; g.State == Approved && g.ChangedAt.Before(p.Student.DateOfBirth.AdultOn().in(time.UTC, 0)) {
			g.restart(PendingAdult, op.Now)
			ended = true
		}
	}
	return Change{Save: ended}
}

// EndGuardianView removes a guardian of an adult student who has answered, or all if guardianID is empty: the guardian
// no longer sees the player and is told, and so is the coach. Without a guardian it does nothing.
func (p *Player) EndGuardianView(by actor.Actor, guardianID string, op Operation) (Change, error) {
	switch {
	case by.Role != actor.Student || !p.VisibleTo(by):
		return Change{}, fault.Missing()
	case !p.Adult(op.Now):
		return Change{}, fault.New(fault.Forbidden, "role_not_allowed", "You can end your guardian's view from the age of 18.")
	case p.Party(actor.Student).Consent.State == Pending:
		return Change{}, fault.New(fault.Forbidden, "approval_pending", "Answer first. After that you can end your guardian's view.")
	}
	ended := p.Guardians()
	if guardianID != "" {
		g, err := p.find(actor.Guardian, guardianID)
		if err != nil {
			return Change{}, err
		}
		ended = []*Party{g}
	}
	c := Change{Save: len(ended) > 0, By: by}
	var ids []string
	for _, g := range ended {
		ids = append(ids, g.GuardianID)
	}
	former := p.Parties[0].GuardianID
	for i := len(ids) - 1; i >= 0; i-- { // from the last
		g := p.Find(actor.Guardian, ids[i])
		e := p.NewEvent(event.GuardianViewEnded, nil)
		e.GuardianName = g.Name
		p.drop(g, op, &c)
		if guardianID == "" {
			c.Events = slices.DeleteFunc(c.Events, func(e event.Event) bool { return e.Type == event.GuardianRemoved })
		}
		c.Events = append(c.Events, e)
	}
	p.tellNowFirst(former, &c)
	return c, nil
}

// adultRecheck is how soon a step that is due by UTC, but not yet in the coach's zone, is looked at again.
const adultRecheck = time.Hour

// NextAdultStep returns the step after one of a person born on a date, when it is due, and whether the step itself is
// due now. If it is not, the step stays. A late TurningSoon is left out once its successor is due.
func NextAdultStep(step AdultStep, born Date, now time.Time, zone *time.Location) (next AdultStep, at time.Time, due bool) {
	if step == GuardianAlone {
		return "", time.Time{}, true
	}
	if start := born.adultStepAt(step, zone); start.After(now) {
		if recheck := now.Add(adultRecheck); recheck.Before(start) {
			start = recheck
		}
		return step, start, false
	}
	if step == Turned {
		return GuardianAlone, now.Add(adultGrace), true
	}
	turned := born.stepDay(Turned).in(time.UTC, 0)
	return Turned, turned, turned.After(now)
}
