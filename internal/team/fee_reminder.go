package team

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/fault"
)

// feeReminderDays are how many days before the due date parties are reminded, the earliest first.
var feeReminderDays = []int{3, 0}

// remindAt is when reminders leave, in the time zone of the coach.
const remindAt TimeOfDay = 9 * 60

// FirstFeeReminder returns when the parties are first reminded of a fee that is made now: at
// once if they are reminded today and it is past remindAt; zero for never.
func FirstFeeReminder(due Date, zone *time.Location, now time.Time) time.Time {
	at := nextFeeReminder(due, zone, DateOf(now, zone))
	if !at.IsZero() && at.Before(now) {
		return now
	}
	return at
}

// NextFeeReminder returns when the parties are reminded after a reminder today; zero for
// never. It skips reminders that were missed.
func NextFeeReminder(due Date, zone *time.Location, now time.Time) time.Time {
	return nextFeeReminder(due, zone, DateOf(now, zone).AddDays(1))
}

// nextFeeReminder returns the time of the first reminder on the day from or later; zero if there
// is none.
func nextFeeReminder(due Date, zone *time.Location, from Date) time.Time {
	for _, days := range feeReminderDays {
		if day := due.AddDays(-days); day >= from {
			return day.At(remindAt, zone).UTC()
		}
	}
	return time.Time{}
}

// maxFeeRemindersPerDay limits the reminders of a fee that a coach sends on one day.
const maxFeeRemindersPerDay = 3

// FeeParty is a guardian or student who may be reminded of a fee.
type FeeParty struct {
	Role      actor.Role
	AccountID string
	// Access says whether the party gets reminders of fees.
	Access Access
}

// FeeAudience has the facts on which a reminder of a fee depends.
type FeeAudience struct {
	Fee *Fee
	// Zone is the name of the coach's time zone.
	Zone      string
	CoachName string
	// Linked are the guardian and the student, as far as the player has them.
	Linked []FeeParty
	// Suspended is true if an operator suspended the coach.
	Suspended bool
}

// parties returns the parties that may be reminded: none of a suspended coach.
func (a FeeAudience) parties() []FeeParty {
	if a.Suspended {
		return nil
	}
	return a.Linked
}

// FeeReminder is the result of reminding the parties of a fee.
type FeeReminder struct {
	Fee     *Fee
	Parties []FeeParty
	// Left is how many more reminders the coach may send today.
	Left int
}

// Remind reminds the approved parties of a fee for its coach. A reminder that reaches
// no party does not count.
func (a FeeAudience) Remind(now time.Time) (FeeReminder, []event.Event, error) {
	f, today := a.Fee, DateOf(now, Zone(a.Zone))
	if f.Status != FeeOpen {
		return FeeReminder{}, nil, errFeeState(f, today, "Only a fee with a balance can be reminded of.")
	}
	if a.left(now) == 0 {
		ends := today.AddDays(1).At(0, Zone(a.Zone)).UTC()
		return FeeReminder{}, nil, fault.New(fault.TooMany, "reminder_limit", "You have sent %d reminders of this fee today. You can send the next one tomorrow.", maxFeeRemindersPerDay).
			After(ends.Sub(now)).With("limit", "fee_reminders_per_day").With("ends_at", ends)
	}
	events := a.events()
	if len(events) > 0 {
		f.RemindedOn, f.RemindedCount = today, maxFeeRemindersPerDay-a.left(now)+1
	}
	return FeeReminder{Fee: f, Parties: a.parties(), Left: a.left(now)}, events, nil
}

// left returns how many more reminders of the fee the coach may send today.
func (a FeeAudience) left(now time.Time) int {
	if a.Fee == nil || a.Fee.RemindedOn != DateOf(now, Zone(a.Zone)) {
		return maxFeeRemindersPerDay
	}
	return max(0, maxFeeRemindersPerDay-a.Fee.RemindedCount)
}

// RemindAutomatically reminds the approved parties of a fee whose RemindAt has come, unless
// it was due before today, and sets when the next reminder follows.
func (a FeeAudience) RemindAutomatically(now time.Time) []event.Event {
	f, zone := a.Fee, Zone(a.Zone)
	f.RemindAt = NextFeeReminder(f.DueOn, zone, now)
	if f.Status != FeeOpen || f.DueOn < DateOf(now, zone) {
		return nil
	}
	return a.events()
}

// events returns the reminders to the approved parties.
func (a FeeAudience) events() []event.Event {
	var events []event.Event
	f := a.Fee
	for _, p := range a.parties() {
		if p.Access != Granted {
			continue
		}
		events = append(events, event.Event{
			Type: event.FeeReminded, Party: p.Role, PartyID: p.AccountID, CoachID: f.CoachID, PlayerID: f.PlayerID,
			CoachName: a.CoachName, StudentName: f.StudentName, FeeID: f.ID, Title: f.Title, Day: string(f.DueOn),
		})
	}
	return events
}
