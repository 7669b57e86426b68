package team

import (
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// MaxAmount is the highest amount of a fee, in minor units of the currency: paise, cents.
const MaxAmount = 1_000_000_000_000

// FeeStatus is the stored status of a fee. The fee's state follows from it and the date.
type FeeStatus string

// The statuses. An open fee has a balance.
const (
	FeeOpen   FeeStatus = "open"
	FeePaid   FeeStatus = "paid"
	FeeWaived FeeStatus = "waived"
	FeeVoid   FeeStatus = "void"
)

// FeeState is the state of a fee on a day.
type FeeState string

// The states. Unpaid is not a state of one fee: as a filter it finds Due and Overdue.
const (
	Due     FeeState = "due"
	Overdue FeeState = "overdue"
	Paid    FeeState = "paid"
	Waived  FeeState = "waived"
	Void    FeeState = "void"

	Unpaid FeeState = "unpaid"
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

	Title    string
	Amount   int64
	Currency string
	DueOn    Date

	Status FeeStatus
	Paid   int64
	// Reason and ClosedAt are set when the fee is waived or void.
	Reason   string
	ClosedAt time.Time

	// RemindAt is when the parties are reminded next without the coach; zero for never.
	RemindAt time.Time
	// RemindedCount counts the reminders that the coach sent on the day RemindedOn.
	RemindedOn    Date
	RemindedCount int

	CreatedAt time.Time
	// Version increases with each save.
	Version int64
	// Payments are oldest first, also those that were reversed. Lists do not load them.
	Payments []Payment
}

// State returns the state on today, the date in the coach's time zone. A fee is overdue from
// the day after it is due.
func (f *Fee) State(today Date) FeeState {
	switch f.Status {
	case FeePaid:
		return Paid
	case FeeWaived:
		return Waived
	case FeeVoid:
		return Void
	}
	if f.DueOn < today {
		return Overdue
	}
	return Due
}

// Balance returns the unpaid amount: 0 for a fee that was waived or is void.
func (f *Fee) Balance() int64 {
	if f.Status == FeeWaived || f.Status == FeeVoid {
		return 0
	}
	return f.Amount - f.Paid
}

// Waive forgives the balance. Payments stay.
func (f *Fee) Waive(reason string, now time.Time, today Date) error {
	return f.end(FeeWaived, reason, now, today)
}

// Void ends a fee that was made by mistake. Its payments must be reversed before, so that
// no money belongs to a fee that does not exist.
func (f *Fee) Void(reason string, now time.Time, today Date) error {
	switch {
	case f.Status == FeePaid:
		return errFeeState(f, today, "Reverse its payments first. Then it can be voided.")
	case f.Status == FeeOpen && f.Paid > 0:
		return errFeeState(f, today, "Payments of this fee are not reversed. Reverse them first, or waive the rest.")
	}
	return f.end(FeeVoid, reason, now, today)
}

func (f *Fee) end(status FeeStatus, reason string, now time.Time, today Date) error {
	if f.Status != FeeOpen {
		return errFeeState(f, today, "Only a fee with a balance can be waived or voided.")
	}
	f.Status, f.Reason, f.ClosedAt, f.RemindAt = status, reason, now, time.Time{}
	return nil
}

// errFeeState returns invalid_transition with the state of the fee.
func errFeeState(f *Fee, today Date, advice string) error {
	state := f.State(today)
	return fault.New(fault.Conflict, "invalid_transition", "This fee is %s. %s", state, advice).
		With("state", string(state)).With("balance", f.Balance())
}
