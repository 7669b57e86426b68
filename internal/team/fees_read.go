package team

import (
	"context"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/actor"
)

// Fee returns a fee of the calling coach with its payments.
func (s *Fees) Fee(ctx context.Context, by actor.Actor, feeID string) (*Fee, error) {
	return s.Store.Fee(ctx, by.AccountID, feeID)
}

// Payment returns a payment of the calling coach and its fee.
func (s *Fees) Payment(ctx context.Context, by actor.Actor, paymentID string) (*Fee, *Payment, error) {
	f, err := s.Store.FeeOfPayment(ctx, by.AccountID, paymentID)
	if err != nil {
		return nil, nil, err
	}
	p, err := f.Payment(paymentID)
	return f, p, err
}

// Added returns the fees that Add made: those of the first month of a series, or one fee.
func (s *Fees) Added(ctx context.Context, by actor.Actor, id string) ([]*Fee, error) {
	fees, err := s.Store.FeesOfSeries(ctx, by.AccountID, id)
	if err != nil || len(fees) > 0 {
		return fees, err
	}
	f, err := s.Fee(ctx, by, id)
	if err != nil {
		return nil, err
	}
	return []*Fee{f}, nil
}

// List lists fees of the calling coach without their payments: the latest due date first, or
// the earliest.
func (s *Fees) List(ctx context.Context, by actor.Actor, f FeeFilter, p FeePage) ([]*Fee, error) {
	var err error
	if f.Today, err = s.Today(ctx, by); err != nil {
		return nil, err
	}
	return s.Store.Fees(ctx, by.AccountID, f, p)
}

// feesPerRead is how many fees Each reads at once.
const feesPerRead = 500

// Each calls fn with each fee of the calling coach that matches the filter, in the order of
// List, and with the coach's date.
func (s *Fees) Each(ctx context.Context, by actor.Actor, f FeeFilter, fn func(*Fee, Date) error) error {
	var err error
	if f.Today, err = s.Today(ctx, by); err != nil {
		return err
	}
	for page := (FeePage{Limit: feesPerRead}); ; {
		fees, err := s.Store.Fees(ctx, by.AccountID, f, page)
		if err != nil {
			return err
		}
		for _, fee := range fees {
			if err := fn(fee, f.Today); err != nil {
				return err
			}
			page.After = FeePosition{DueOn: fee.DueOn, ID: fee.ID}
		}
		if len(fees) < feesPerRead {
			return nil
		}
	}
}

// Unpaid counts and adds up the open fees of the calling coach, in the order of currencies.
func (s *Fees) Unpaid(ctx context.Context, by actor.Actor) ([]FeeSum, error) {
	today, err := s.Today(ctx, by)
	if err != nil {
		return nil, err
	}
	sums, err := s.Store.UnpaidFees(ctx, by.AccountID, today)
	slices.SortFunc(sums, func(a, b FeeSum) int { return strings.Compare(a.Currency, b.Currency) })
	return sums, err
}

// Repeats lists the repeats of the calling coach that have not ended, newest first.
func (s *Fees) Repeats(ctx context.Context, by actor.Actor, beforeID string, limit int) ([]*FeeRepeat, error) {
	return s.Store.FeeRepeats(ctx, by.AccountID, beforeID, limit)
}
