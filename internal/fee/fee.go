package fee

import (
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// MaxAmount is the highest amount of a fee, in minor units of the currency: paise, cents.
const MaxAmount = 1_000_000_000_000

// Status is the stored status of a fee. The fee's state follows from it and the date.
type Status string

// The statuses. An open fee has a balance.
const (
	StatusOpen   Status = "open"
	StatusPaid   Status = "paid"
	StatusWaived Status = "waived"
	StatusVoid   Status = "void"
)

// State is the state of a fee on a day.
type State string

// The states. Unpaid is not a state of one fee: as a filter it finds Due and Overdue.
const (
	Due     State = "due"
	Overdue State = "overdue"
	Paid    State = "paid"
	Waived  State = "waived"
	Void    State = "void"

	Unpaid State = "unpaid"
)

// Fee is an amount that one player owes. Money that the coach received is noted as payments;
// the service moves no money.
type Fee struct {
	ID       string
	CoachID  string
	PlayerID string
	// StudentName is the current name of the player.
	StudentName string
	// BatchID is the batch for which the fee was made, or "".
	BatchID string
	// SeriesID is common to the fees of one order, for a batch or with repeats; else "".
	// Period counts the months from the first fee of the series.
	SeriesID string
	Period   int
	// Zone is the time zone of the coach, whose dates count.
	Zone *time.Location

	Title    string
	Amount   int64
	Currency string
	DueOn    team.Date

	Status Status
	Paid   int64
	// Reason and ClosedAt are set when the fee is waived or void.
	Reason   string
	ClosedAt time.Time

	// RemindAt is when the parties are reminded next without the coach; zero for never.
	RemindAt time.Time
	// RemindedCount counts the reminders that the coach sent on the day RemindedOn.
	RemindedOn    team.Date
	RemindedCount int

	// Told says that a party has paid; the coach has not confirmed it.
	Told Told

	CreatedAt time.Time
	// Version increases with each save.
	Version int64
	// Payments are oldest first, also those that were reversed. Lists do not load them.
	Payments []Payment
}

// today returns the date of the coach.
func (f *Fee) today(now time.Time) team.Date { return team.DateOf(now, f.Zone) }

// State returns the state at a time. A fee is overdue from the day after it is due.
func (f *Fee) State(now time.Time) State {
	switch f.Status {
	case StatusPaid:
		return Paid
	case StatusWaived:
		return Waived
	case StatusVoid:
		return Void
	}
	if f.DueOn < f.today(now) {
		return Overdue
	}
	return Due
}

// Balance returns the unpaid amount: 0 for a fee that was waived or is void.
func (f *Fee) Balance() int64 {
	if f.Status == StatusWaived || f.Status == StatusVoid {
		return 0
	}
	return f.Amount - f.Paid
}

// Waive forgives the balance. Payments stay.
func (f *Fee) Waive(reason string, now time.Time) error {
	return f.end(StatusWaived, reason, now)
}

// Void ends a fee that was made by mistake. Its payments must be reversed before, so that
// no money belongs to a fee that does not exist.
func (f *Fee) Void(reason string, now time.Time) error {
	switch {
	case f.Status == StatusPaid:
		return f.refuse(now, "Reverse its payments first. Then it can be voided.")
	case f.Status == StatusOpen && f.Paid > 0:
		return f.refuse(now, "Payments of this fee are not reversed. Reverse them first, or waive the rest.")
	}
	return f.end(StatusVoid, reason, now)
}

func (f *Fee) end(status Status, reason string, now time.Time) error {
	if f.Status != StatusOpen {
		return f.refuse(now, "Only a fee with a balance can be waived or voided.")
	}
	f.Status, f.Reason, f.ClosedAt, f.RemindAt = status, reason, now, time.Time{}
	return nil
}

// refuse returns invalid_transition with the state of the fee.
func (f *Fee) refuse(now time.Time, advice string) error {
	state := f.State(now)
	return fault.New(fault.Conflict, "invalid_transition", "This fee is %s. %s", state, advice).
		With("state", string(state)).With("balance", f.Balance())
}
