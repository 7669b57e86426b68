package fee

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// MaxPayments is how many payments one fee can have, with those that were reversed.
const MaxPayments = 200

// Method is how a payment was made.
type Method string

// Methods are the ways to pay.
var Methods = []Method{"cash", "upi", "bank", "other"}

// Payment is money that the coach received for a fee. It is never edited: a wrong one is
// reversed and noted again.
type Payment struct {
	ID     string
	FeeID  string
	Amount int64
	Method Method
	PaidOn team.Date
	Note   string
	// Receipt numbers the payments of a coach from 1, without gaps.
	Receipt   int64
	CreatedAt time.Time
	// ReversedAt is zero unless the payment was reversed, for Reason.
	ReversedAt time.Time
	Reason     string
}

// Pay adds a payment. It returns payment_exceeds_balance if p is more than the balance.
func (f *Fee) Pay(p Payment, now time.Time) error {
	switch {
	case f.Status == StatusWaived || f.Status == StatusVoid:
		return f.refuse(now, "It takes no payments.")
	case p.Amount > f.Balance():
		return fault.New(fault.Conflict, "payment_exceeds_balance", "The balance of this fee is %s %s. A payment cannot be more.",
			team.FormatAmount(f.Balance(), f.Currency), f.Currency).With("balance", f.Balance()).With("currency", f.Currency)
	case len(f.Payments) >= MaxPayments:
		return f.refuse(now, fmt.Sprintf("It has %d payments, and can have no more. Waive the rest, and add a fee for it.", MaxPayments))
	}
	f.Paid += p.Amount
	f.Told = Told{}
	if f.Paid == f.Amount {
		f.Status, f.RemindAt = StatusPaid, time.Time{}
	}
	f.Payments = append(f.Payments, p)
	return nil
}

// Reverse takes a payment back, so that its amount is owed again. A fee that was waived
// stays waived.
func (f *Fee) Reverse(paymentID, reason string, now time.Time) (*Payment, error) {
	p, err := f.Payment(paymentID)
	if err != nil {
		return nil, err
	}
	if !p.ReversedAt.IsZero() {
		return nil, fault.New(fault.Conflict, "invalid_transition", "This payment was reversed already.").With("state", "reversed")
	}
	p.ReversedAt, p.Reason = now, reason
	if f.Paid -= p.Amount; f.Status == StatusPaid {
		f.Status, f.RemindAt = StatusOpen, NextReminder(f.DueOn, f.Zone, now)
	}
	return p, nil
}

// maxPaidYears is how many years ago a payment may have been made.
const maxPaidYears = 10

// checkPaidOn returns the fault of the day of a payment.
func checkPaidOn(day, today team.Date) error {
	switch {
	case day > today:
		return fault.Validation([]fault.Field{{Pointer: "/paid_on", Code: "future_date", Detail: "This day has not come yet. Note a payment when you have received it."}})
	case day < today.AddYears(-maxPaidYears):
		return fault.Validation([]fault.Field{{Pointer: "/paid_on", Code: "unlikely_date", Detail: "This is more than ten years ago. Check the year."}})
	}
	return nil
}

// Payment returns the payment with an id, or not_found.
func (f *Fee) Payment(id string) (*Payment, error) {
	for i := range f.Payments {
		if f.Payments[i].ID == id {
			return &f.Payments[i], nil
		}
	}
	return nil, fault.Missing()
}
