package team

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// FeePage selects at most Limit fees after the one that was due on After.DueOn and has
// the id After.ID; the zero position is the start.
type FeePage struct {
	Limit int
	After FeePosition
}

// FeePosition is the position of a fee in a list.
type FeePosition struct {
	DueOn Date
	ID    string
}

// FeeFilter filters the fees of a coach. Zero fields match all.
type FeeFilter struct {
	PlayerID, BatchID string
	State             FeeState
	// From and To are the first and the last day on which the fees are due.
	From, To Date
	// OldestFirst reverses the order, which is otherwise the latest due date first.
	OldestFirst bool
	// Today is the coach's date. Fees sets it.
	Today Date
}

// Month restricts f to the fees that are due in a month, given by its first day.
func (f FeeFilter) Month(first Date) FeeFilter {
	f.From, f.To = first, first.AddMonths(1).AddDays(-1)
	return f
}

// Stored returns the stored status of the fees that match f, and the first and the last day on
// which they are due; "" is any. Due fees are the open ones from Today on, overdue fees those
// from before.
func (f FeeFilter) Stored() (status FeeStatus, from, to Date) {
	from, to = f.From, f.To
	switch f.State {
	case Due:
		return FeeOpen, max(from, f.Today), to
	case Overdue:
		if yesterday := f.Today.AddDays(-1); to == "" || to > yesterday {
			to = yesterday
		}
		return FeeOpen, from, to
	case Unpaid:
		return FeeOpen, from, to
	}
	return FeeStatus(f.State), from, to
}

// FeeSet has the fees that an order adds. Repeat is nil if the order does not repeat.
type FeeSet struct {
	Fees   []*Fee
	Repeat *FeeRepeat
}

// FeeChange is a change of a fee. NewPayment and Reversed are payments of the fee, or nil.
type FeeChange struct {
	NewPayment, Reversed *Payment
}

// FeeSum is the sum of unpaid fees in one currency.
type FeeSum struct {
	Currency                  string
	Unpaid, Overdue           int
	UnpaidTotal, OverdueTotal int64
}

// FeeStore stores fees; package store implements it. A fee of another coach is not_found.
type FeeStore interface {
	// Zone returns the name of the time zone of a coach.
	Zone(ctx context.Context, coachID string) (string, error)
	// CheckPayers returns not_found if the player or the batch of o is not the coach's.
	CheckPayers(ctx context.Context, coachID string, o FeeOrder) error
	// AddFees adds the fees that fn returns for the player or the players of the batch of o.
	AddFees(ctx context.Context, coachID string, o FeeOrder, fn func(zone string, payers []Payer) (FeeSet, error)) error
	// UpdateFee loads a fee with its payments, lets fn change it, and saves it unless it
	// was changed meanwhile. It gives a new payment its receipt number. fn may run more
	// than once.
	UpdateFee(ctx context.Context, coachID, feeID string, fn func(f *Fee, zone string) (FeeChange, error)) error
	Fee(ctx context.Context, coachID, feeID string) (*Fee, error)
	// FeeOfPayment returns the fee with a payment.
	FeeOfPayment(ctx context.Context, coachID, paymentID string) (*Fee, error)
	// FeesOfSeries returns the fees of the first month of a series.
	FeesOfSeries(ctx context.Context, coachID, seriesID string) ([]*Fee, error)
	Fees(ctx context.Context, coachID string, f FeeFilter, p FeePage) ([]*Fee, error)
	UnpaidFees(ctx context.Context, coachID string, today Date) ([]FeeSum, error)
	// FeeRepeats lists the repeats of a coach that have not ended, newest first.
	FeeRepeats(ctx context.Context, coachID, beforeID string, limit int) ([]*FeeRepeat, error)
	EndFeeRepeat(ctx context.Context, coachID, repeatID string) error
}

// Fees adds fees and notes their payments.
type Fees struct {
	Store FeeStore
	// DefaultCurrency is the currency of an order that names none.
	DefaultCurrency string
	// CheckFeature returns a tier_limit unless the coach's tier has the feature.
	CheckFeature func(ctx context.Context, by actor.Actor, feature string) error
	Now          func() time.Time
	NewID        func() string
}

// ManualFees is the feature of a tier without which a coach adds no fees.
const ManualFees = "manual_fees"

// Today returns the date of the calling coach.
func (s *Fees) Today(ctx context.Context, by actor.Actor) (Date, error) {
	zone, err := s.Store.Zone(ctx, by.AccountID)
	return DateOf(s.Now(), Zone(zone)), err
}

// Add adds the fees of an order. A repeated one gets those of the first month now.
func (s *Fees) Add(ctx context.Context, by actor.Actor, o FeeOrder) ([]*Fee, error) {
	if err := s.CheckFeature(ctx, by, ManualFees); err != nil {
		return nil, err
	}
	if o.Currency == "" {
		o.Currency = s.DefaultCurrency
	}
	var added []*Fee
	err := s.Store.AddFees(ctx, by.AccountID, o, func(zoneName string, payers []Payer) (FeeSet, error) {
		now, zone, seriesID := s.Now(), Zone(zoneName), ""
		if err := o.Check(DateOf(now, zone)); err != nil {
			return FeeSet{}, err
		}
		if len(payers) == 0 {
			return FeeSet{}, fault.Validation([]fault.Field{{Pointer: "/batch_id", Code: "no_players", Detail: "This batch has no players. Add players to it first."}})
		}
		if o.Repeat || o.BatchID != "" {
			seriesID = s.NewID()
		}
		set := FeeSet{Fees: o.FeesFor(by.AccountID, seriesID, 0, payers, zone, now, s.NewID)}
		if o.Repeat {
			set.Repeat = &FeeRepeat{ID: seriesID, CoachID: by.AccountID, FeeOrder: o, CreatedAt: now, Version: 1}
			set.Repeat.Advance(zone, now)
		}
		added = set.Fees
		return set, nil
	})
	if err != nil {
		return nil, err
	}
	return added, nil
}

// Check returns the error that Add would return for the order, and adds nothing, so that a
// caller with other faults can report all of them together.
func (s *Fees) Check(ctx context.Context, by actor.Actor, o FeeOrder) error {
	if err := s.Store.CheckPayers(ctx, by.AccountID, o); err != nil || o.DueOn == "" {
		return err
	}
	today, err := s.Today(ctx, by)
	if err != nil {
		return err
	}
	return o.Check(today)
}

// Pay notes a payment of a fee of the calling coach.
func (s *Fees) Pay(ctx context.Context, by actor.Actor, feeID string, p Payment) (*Fee, *Payment, error) {
	return s.update(ctx, by, feeID, func(f *Fee, zone *time.Location, now time.Time) (FeeChange, error) {
		today := DateOf(now, zone)
		if err := checkPaidOn(p.PaidOn, today); err != nil {
			return FeeChange{}, err
		}
		p.ID, p.FeeID, p.CreatedAt = s.NewID(), f.ID, now
		if err := f.Pay(p, today); err != nil {
			return FeeChange{}, err
		}
		return FeeChange{NewPayment: &f.Payments[len(f.Payments)-1]}, nil
	})
}

// Reverse takes a payment back.
func (s *Fees) Reverse(ctx context.Context, by actor.Actor, feeID, paymentID, reason string) (*Fee, *Payment, error) {
	return s.update(ctx, by, feeID, func(f *Fee, zone *time.Location, now time.Time) (FeeChange, error) {
		p, err := f.Reverse(paymentID, reason, zone, now)
		return FeeChange{Reversed: p}, err
	})
}

// Waive forgives the balance of a fee.
func (s *Fees) Waive(ctx context.Context, by actor.Actor, feeID, reason string) (*Fee, error) {
	f, _, err := s.update(ctx, by, feeID, func(f *Fee, zone *time.Location, now time.Time) (FeeChange, error) {
		return FeeChange{}, f.Waive(reason, now, DateOf(now, zone))
	})
	return f, err
}

// Void ends a fee that was made by mistake.
func (s *Fees) Void(ctx context.Context, by actor.Actor, feeID, reason string) (*Fee, error) {
	f, _, err := s.update(ctx, by, feeID, func(f *Fee, zone *time.Location, now time.Time) (FeeChange, error) {
		return FeeChange{}, f.Void(reason, now, DateOf(now, zone))
	})
	return f, err
}

// update changes a fee and returns it with the payment of the change.
func (s *Fees) update(ctx context.Context, by actor.Actor, feeID string, fn func(*Fee, *time.Location, time.Time) (FeeChange, error)) (*Fee, *Payment, error) {
	var saved *Fee
	var change FeeChange
	err := s.Store.UpdateFee(ctx, by.AccountID, feeID, func(f *Fee, zone string) (c FeeChange, err error) {
		saved = f
		change, err = fn(f, Zone(zone), s.Now())
		return change, err
	})
	if err != nil {
		return nil, nil, err
	}
	if change.NewPayment != nil {
		return saved, change.NewPayment, nil
	}
	return saved, change.Reversed, nil
}

// EndRepeat makes no more fees of a repeat.
func (s *Fees) EndRepeat(ctx context.Context, by actor.Actor, repeatID string) error {
	return s.Store.EndFeeRepeat(ctx, by.AccountID, repeatID)
}
