package fee

import (
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// reminderDays are how many days before the due date parties are reminded, the earliest first.
var reminderDays = []int{3, 0}

// remindAt is when reminders leave, in the time zone of the coach.
const remindAt team.TimeOfDay = 9 * 60

// FirstReminder returns when the parties are first reminded of a fee that is made now: at
// once if they are reminded today and it is past remindAt; zero for never.
func FirstReminder(due team.Date, zone *time.Location, now time.Time) time.Time {
	at := nextReminder(due, zone, team.DateOf(now, zone))
	if !at.IsZero() && at.Before(now) {
		return now
	}
	return at
}

// NextReminder returns when the parties are reminded after a reminder today; zero for
// never. It skips reminders that were missed.
func NextReminder(due team.Date, zone *time.Location, now time.Time) time.Time {
	return nextReminder(due, zone, team.DateOf(now, zone).AddDays(1))
}

// nextReminder returns the time of the first reminder on the day from or later; zero if there
// is none.
func nextReminder(due team.Date, zone *time.Location, from team.Date) time.Time {
	for _, days := range reminderDays {
		if day := due.AddDays(-days); day >= from {
			return day.At(remindAt, zone).UTC()
		}
	}
	return time.Time{}
}

// maxRemindersPerDay limits the reminders of a fee that a coach sends on one day.
const maxRemindersPerDay = 3

// Party is a guardian or student who may be reminded of a fee.
type Party struct {
	Role       actor.Role
	GuardianID string
	AccountID  string
	// Access says whether the party gets reminders of fees.
	Access team.Access
}

// Audience has the facts on which a reminder of a fee depends.
type Audience struct {
	Fee       *Fee
	CoachName string
	// Linked are the guardians and the student, as far as the player has them.
	Linked []Party
	// Suspended is true if an operator suspended the coach.
	Suspended bool
}

// parties returns the parties that may be reminded: none of a suspended coach.
func (a Audience) parties() []Party {
	if a.Suspended {
		return nil
	}
	return a.Linked
}

// Reminder is the result of reminding the parties of a fee.
type Reminder struct {
	Fee     *Fee
	Parties []Party
	// Left is how many more reminders the coach may send today.
	Left int
}

// Remind reminds the approved parties of a fee for its coach. A reminder that reaches
// no party does not count.
func (a Audience) Remind(now time.Time) (Reminder, []event.Event, error) {
	f, today := a.Fee, a.Fee.today(now)
	if f.Status != StatusOpen {
		return Reminder{}, nil, f.refuse(now, "Only a fee with a balance can be reminded of.")
	}
	if a.left(now) == 0 {
		ends := today.AddDays(1).At(0, f.Zone).UTC()
		return Reminder{}, nil, fault.New(fault.TooMany, "reminder_limit", "You have sent %d reminders of this fee today. You can send the next one tomorrow.", maxRemindersPerDay).
			After(ends.Sub(now)).With("limit", "fee_reminders_per_day").With("ends_at", ends)
	}
	events := a.events()
	if len(events) > 0 {
		f.RemindedOn, f.RemindedCount = today, maxRemindersPerDay-a.left(now)+1
	}
	return Reminder{Fee: f, Parties: a.parties(), Left: a.left(now)}, events, nil
}

// left returns how many more reminders of the fee the coach may send today.
func (a Audience) left(now time.Time) int {
	if a.Fee == nil || a.Fee.RemindedOn != a.Fee.today(now) {
		return maxRemindersPerDay
	}
	return max(0, maxRemindersPerDay-a.Fee.RemindedCount)
}

// RemindAutomatically reminds the approved parties of a fee whose RemindAt has come, unless
// it was due before today, and sets when the next reminder follows.
func (a Audience) RemindAutomatically(now time.Time) []event.Event {
	f := a.Fee
	f.RemindAt = NextReminder(f.DueOn, f.Zone, now)
	if f.Status != StatusOpen || f.DueOn < f.today(now) {
		return nil
	}
	return a.events()
}

// events returns the reminders to the approved parties.
func (a Audience) events() []event.Event {
	var events []event.Event
	f := a.Fee
	for _, p := range a.parties() {
		if p.Access != team.Granted {
			continue
		}
		events = append(events, event.Event{
			Type: event.FeeReminded, Party: p.Role, GuardianID: p.GuardianID, PartyID: p.AccountID, CoachID: f.CoachID, PlayerID: f.PlayerID,
			CoachName: a.CoachName, StudentName: f.StudentName, FeeID: f.ID, Title: f.Title, Day: string(f.DueOn),
		})
	}
	return events
}
