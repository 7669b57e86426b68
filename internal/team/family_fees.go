package team

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
)

// FamilyFee is a fee as the party of a player sees it.
type FamilyFee struct {
	*Fee
	State FeeState
	// Payee is nil unless the party can pay the balance by UPI.
	Payee *UPIPayee
}

// FamilyFees are fees of a player as the store reads them for a party, from one state of
// the database.
type FamilyFees struct {
	Link Link
	Fees []*Fee
	// Payee is the coach as the receiver of payments.
	Payee UPIPayee
	// Payments says whether the party has the service DigitalPayments.
	Payments Access
}

// FamilyFeeStore reads fees for families; package store implements it. A player that is not
// linked to the caller is not_found; then the error of Access follows.
type FamilyFeeStore interface {
	// FamilyFees lists the fees of a player, the latest due date first. Void ones are left out.
	FamilyFees(ctx context.Context, by actor.Actor, playerID string, p FeePage) (FamilyFees, error)
	// FamilyFee returns one fee of a player, with its payments. A void one is not_found.
	FamilyFee(ctx context.Context, by actor.Actor, playerID, feeID string) (FamilyFees, error)
}

// FeeReminderStore sends reminders of fees; package store implements it.
type FeeReminderStore interface {
	// RemindFee loads a fee and its parties, saves the changes of fn, and sends the events in
	// the same transaction. fn may run more than once.
	RemindFee(ctx context.Context, coachID, feeID string, fn func(FeeAudience) ([]event.Event, error)) error
	// FeeAudience reads a fee and its parties.
	FeeAudience(ctx context.Context, coachID, feeID string) (FeeAudience, error)
}

// FeeServices lets families read and pay fees, and reminds them.
type FeeServices struct {
	Families  FamilyFeeStore
	Reminders FeeReminderStore
	// CheckFeature returns a tier_limit unless the coach's tier has the feature.
	CheckFeature func(ctx context.Context, by actor.Actor, feature string) error
	Now          func() time.Time
}

// List lists the fees of a player for the calling guardian or student.
func (s *FeeServices) List(ctx context.Context, by actor.Actor, playerID string, p FeePage) ([]FamilyFee, error) {
	read, err := s.Families.FamilyFees(ctx, by, playerID, p)
	if err != nil {
		return nil, err
	}
	return read.forParty(s.Now()), nil
}

// Fee returns a fee of a player with its payments for the calling guardian or student.
func (s *FeeServices) Fee(ctx context.Context, by actor.Actor, playerID, feeID string) (FamilyFee, error) {
	read, err := s.Families.FamilyFee(ctx, by, playerID, feeID)
	if err != nil {
		return FamilyFee{}, err
	}
	return read.forParty(s.Now())[0], nil
}

// forParty returns the fees with their states, and the payee of those that the party can
// pay by UPI.
func (r FamilyFees) forParty(now time.Time) []FamilyFee {
	today := DateOf(now, Zone(r.Link.CoachZone))
	all := make([]FamilyFee, len(r.Fees))
	for i, f := range r.Fees {
		all[i] = FamilyFee{Fee: f, State: f.State(today)}
		if r.Payments == Granted && r.Payee.CanPay(f) {
			all[i].Payee = &r.Payee
		}
	}
	return all
}

// Remind reminds the approved parties of a fee of the calling coach, in the app.
func (s *FeeServices) Remind(ctx context.Context, by actor.Actor, feeID string) (FeeReminder, error) {
	if err := s.CheckFeature(ctx, by, string(FeeReminders)); err != nil {
		return FeeReminder{}, err
	}
	var sent FeeReminder
	err := s.Reminders.RemindFee(ctx, by.AccountID, feeID, func(a FeeAudience) (events []event.Event, err error) {
		sent, events, err = a.Remind(s.Now())
		return events, err
	})
	return sent, err
}

// Reminder returns the result that Remind would have now. It sends nothing.
func (s *FeeServices) Reminder(ctx context.Context, by actor.Actor, feeID string) (FeeReminder, error) {
	a, err := s.Reminders.FeeAudience(ctx, by.AccountID, feeID)
	return FeeReminder{Fee: a.Fee, Parties: a.parties(), Left: a.left(s.Now())}, err
}
