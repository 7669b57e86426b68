package fee

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/web"
)

// Told is what a family says about a fee: that it has paid. It is no payment. The coach confirms it
// by noting the payment, or ends it.
type Told struct {
	// At is zero if no party said so.
	At time.Time
	By actor.Role
	// GuardianID is the guardian if By is one. GuardianName is empty for the only guardian, and in lists.
	GuardianID, GuardianName string
}

// Tell saves that a party has paid the balance. It changes nothing if a party said so already.
func (f *Fee) Tell(by actor.Role, guardianID string, now time.Time) error {
	switch {
	case f.Status != StatusOpen:
		return f.refuse(now, "There is nothing to pay.")
	case f.Told.At.IsZero():
		f.Told = Told{At: now, By: by, GuardianID: guardianID}
	}
	return nil
}

// Tell saves that the calling guardian or student has paid the balance of a fee, and notifies the
// coach. With told false it takes that back. The same again changes nothing.
func (s *Service) Tell(ctx context.Context, by actor.Actor, playerID, feeID string, told bool) (seen FamilyFee, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		party, f, err := s.readForFamily(ctx, tx, by, playerID, feeID)
		if err != nil {
			return err
		}
		before := f.Told
		if told {
			if err := f.Tell(by.Role, party.link.GuardianID, tx.Now); err != nil {
				return err
			}
		} else {
			f.Told = Told{}
		}
		seen = party.see(f)
		if f.Told == before {
			return nil
		}
		if err := save(ctx, tx, f); err != nil || !told {
			return err
		}
		name, err := oneOfSeveral(ctx, tx, f.PlayerID, f.Told.GuardianID)
		if err != nil {
			return err
		}
		return notice.Notify(ctx, tx, []event.Event{{
			Type: event.FeeTold, Party: by.Role, GuardianID: f.Told.GuardianID, GuardianName: name, CoachID: f.CoachID, PlayerID: f.PlayerID, FeeID: f.ID, Title: f.Title, StudentName: f.StudentName,
		}})
	})
	return seen, err
}

// Untell ends what a family said about a fee of the calling coach, who received nothing.
func (s *Service) Untell(ctx context.Context, by actor.Actor, feeID string) (f *Fee, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if f, err = s.read(ctx, tx, by.AccountID, feeID); err != nil || f.Told.At.IsZero() {
			return err
		}
		f.Told = Told{}
		return save(ctx, tx, f)
	})
	return f, err
}

// readForFamily reads a fee that the calling guardian or student may see.
func (s *Service) readForFamily(ctx context.Context, tx *store.Tx, by actor.Actor, playerID, feeID string) (family, *Fee, error) {
	party, err := s.loadFamily(ctx, tx, by, playerID)
	if err != nil {
		return party, nil, err
	}
	f, err := s.read(ctx, tx, party.link.CoachID, feeID)
	if err == nil && (f.PlayerID != playerID || f.Status == StatusVoid) {
		err = fault.Missing()
	}
	return party, f, err
}

// tell serves PUT and DELETE /api/me/players/{player_id}/fees/{fee_id}/told.
func (h handlers) tell(told bool) func(context.Context, api.Request[api.NoBody], string) (api.Response, error) {
	return func(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
		feeID, err := r.PathID("fee_id")
		if err != nil {
			return api.Response{}, err
		}
		fee, err := h.Tell(ctx, r.Caller.Actor, playerID, feeID, told)
		if err != nil {
			return api.Response{}, err
		}
		return endpoint.OK(h.familyDetails(fee)), nil
	}
}

// untell serves DELETE /api/fees/{fee_id}/told.
func (h handlers) untell(ctx context.Context, r api.Request[api.NoBody], feeID string) (api.Response, error) {
	f, err := h.Untell(ctx, r.Caller.Actor, feeID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newDetailsResponse(f, h.Now())), nil
}

// tellPaid serves POST …/fees/{fee_id}/told: the family says that it has paid, or with told=no that
// it has not.
func (p pages) tellPaid(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, fee, closed, err := p.loadFamilyFee(ctx, r, by)
	if err != nil || closed {
		return web.Redirect(d.Path + "/fees"), err
	}
	_, err = p.Tell(ctx, by, d.ID, fee.ID, r.Value("told") != "no")
	if fault.CodeOf(err) == "invalid_transition" { // the coach was faster; the page says how things stand
		err = nil
	}
	return web.Redirect(d.Path + "/fees/" + fee.ID), err
}

// notReceived serves POST /coach/fees/{fee_id}/not-received.
func (p pages) notReceived(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("fee_id")
	_, err := p.Untell(ctx, by, id)
	return web.Redirect(feesPath + "/" + id + "?done=not_received"), err
}
