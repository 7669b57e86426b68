// Package fee owns manual fees: their rules, SQL, JSON, pages, templates and texts. It notes what
// families paid the coach; it moves no money. What happens to fees when a coach leaves is the hook
// CoachLeft.
package fee

import (
	"cmp"
	"context"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/claims"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// manualFees is the feature of a tier without which a coach adds no fees.
const manualFees = "manual_fees"

// Service adds fees, notes their payments and reminds of them. A fee of another coach is not_found.
type Service struct {
	DB      *store.DB
	Coaches *coach.Service
	// Consent are the rules that decide who has which service of a player.
	Consent player.Access
	// DefaultCurrency is the currency of an order that names none.
	DefaultCurrency string
	// CheckFeature returns a tier_limit unless the coach's tier has the feature.
	CheckFeature func(ctx context.Context, by actor.Actor, feature string) error
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// NewID returns a new identifier.
func (s *Service) NewID() string { return s.DB.NewID() }

func (s *Service) zone(ctx context.Context, q database.Querier, coachID string) (*time.Location, error) {
	name, err := s.DB.ZoneIn(ctx, q, coachID)
	return team.Zone(name), err
}

// Today returns the date of the calling coach.
func (s *Service) Today(ctx context.Context, by actor.Actor) (team.Date, error) {
	zone, err := s.zone(ctx, s.DB, by.AccountID)
	return team.DateOf(s.Now(), zone), err
}

// Add adds the fees of an order, for its player or for the players that are in its batch now. A
// repeated one gets the fees of the first month now.
func (s *Service) Add(ctx context.Context, by actor.Actor, o Order) (added []*Fee, err error) {
	if err := s.CheckFeature(ctx, by, manualFees); err != nil {
		return nil, err
	}
	o.Currency = cmp.Or(o.Currency, s.DefaultCurrency)
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		payers, err := payersOf(ctx, tx, by.AccountID, o)
		if err != nil {
			return err
		}
		zone, err := s.zone(ctx, tx, by.AccountID)
		if err != nil {
			return err
		}
		if s.Consent.Claims.Group(o.Title) { // it is in messages to families
			return fault.Validation([]fault.Field{claims.Fault("/title")})
		}
		now, seriesID := s.Now(), ""
		if err := o.Check(team.DateOf(now, zone)); err != nil {
			return err
		}
		if len(payers) == 0 {
			return fault.Validation([]fault.Field{{Pointer: "/batch_id", Code: "no_players", Detail: "This batch has no players. Add players to it first."}})
		}
		if o.Repeat || o.BatchID != "" || len(o.PlayerIDs) > 0 {
			seriesID = s.NewID()
		}
		added = o.FeesFor(by.AccountID, seriesID, 0, payers, zone, now, s.NewID)
		work := idempotency.Work{ID: added[0].ID, New: true}
		if o.BatchID != "" || len(o.PlayerIDs) > 0 {
			work.ID = seriesID
		}
		if err := tx.Complete(ctx, work); err != nil {
			return err
		}
		if o.Repeat {
			r := &Repeat{ID: seriesID, CoachID: by.AccountID, Order: o, CreatedAt: now, Version: 1}
			r.Advance(zone, now)
			if err := insertRepeat(ctx, tx, r); err != nil {
				return err
			}
		}
		return insert(ctx, tx, added)
	})
	if err != nil {
		return nil, err
	}
	return added, nil
}

// Check returns the error that Add would return for the order, and adds nothing, so that a
// caller with other faults can report all of them together.
func (s *Service) Check(ctx context.Context, by actor.Actor, o Order) error {
	if err := checkPayers(ctx, s.DB, by.AccountID, o); err != nil || o.DueOn == "" {
		return err
	}
	today, err := s.Today(ctx, by)
	if err != nil {
		return err
	}
	return o.Check(today)
}

// Pay notes a payment of a fee of the calling coach.
func (s *Service) Pay(ctx context.Context, by actor.Actor, feeID string, p Payment) (*Fee, *Payment, error) {
	return s.update(ctx, by, feeID, func(f *Fee, now time.Time) (*Payment, error) {
		if err := checkPaidOn(p.PaidOn, f.today(now)); err != nil {
			return nil, err
		}
		p.ID, p.FeeID, p.CreatedAt = s.NewID(), f.ID, now
		if err := f.Pay(p, now); err != nil {
			return nil, err
		}
		return &f.Payments[len(f.Payments)-1], nil
	})
}

// Reverse takes a payment back.
func (s *Service) Reverse(ctx context.Context, by actor.Actor, feeID, paymentID, reason string) (*Fee, *Payment, error) {
	return s.update(ctx, by, feeID, func(f *Fee, now time.Time) (*Payment, error) {
		return f.Reverse(paymentID, reason, now)
	})
}

// Waive forgives the balance of a fee.
func (s *Service) Waive(ctx context.Context, by actor.Actor, feeID, reason string) (*Fee, error) {
	return s.end(ctx, by, feeID, reason, (*Fee).Waive)
}

// Void ends a fee that was made by mistake.
func (s *Service) Void(ctx context.Context, by actor.Actor, feeID, reason string) (*Fee, error) {
	return s.end(ctx, by, feeID, reason, (*Fee).Void)
}

func (s *Service) end(ctx context.Context, by actor.Actor, feeID, reason string, end func(*Fee, string, time.Time) error) (*Fee, error) {
	f, _, err := s.update(ctx, by, feeID, func(f *Fee, now time.Time) (*Payment, error) { return nil, end(f, reason, now) })
	return f, err
}

// update loads a fee, lets fn change it, and saves it with the payment that fn added or reversed,
// unless a concurrent change was faster: then fn runs again on the newer fee. So two payments never
// exceed the balance.
func (s *Service) update(ctx context.Context, by actor.Actor, feeID string, fn func(*Fee, time.Time) (*Payment, error)) (f *Fee, p *Payment, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if f, err = s.read(ctx, tx, by.AccountID, feeID); err != nil {
			return err
		}
		if p, err = fn(f, s.Now()); err != nil {
			return err
		}
		work := idempotency.Work{ID: f.ID}
		if p != nil {
			work = idempotency.Work{ID: p.ID, New: p.Receipt == 0}
		}
		if err := tx.Complete(ctx, work); err != nil {
			return err
		}
		if err := save(ctx, tx, f); err != nil || p == nil {
			return err
		}
		if p.Receipt == 0 {
			return insertPayment(ctx, tx, by.AccountID, p)
		}
		return saveReversal(ctx, tx, by.AccountID, p)
	})
	if err != nil {
		return nil, nil, err
	}
	return f, p, nil
}

// CoachLeft ends what recurs when a coach closes the account. Fees and payments are retained for the
// coach's accounts.
func CoachLeft(ctx context.Context, tx *store.Tx, coachID string) error {
	err := tx.Defer(ctx, `UPDATE fee_repeats SET next_at = NULL, ended_at = $2 WHERE coach_id = $1 AND next_at IS NOT NULL`, coachID, database.Micros(tx.Now))
	if err != nil {
		return err
	}
	return tx.Defer(ctx, `UPDATE fees SET remind_at = NULL WHERE coach_id = $1 AND status = 'open'`, coachID)
}
