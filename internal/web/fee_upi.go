package web

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/wire"
)

// upiPage serves GET /coach/fees/upi: where families pay.
func (p *Pages) upiPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return Response{}, err
	}
	return p.upiForm(ctx, r, by, profile, r.restored(&Form{Values: url.Values{"upi_id": {profile.UPIID}}}))
}

func (p *Pages) upiForm(ctx context.Context, r *Request, by actor.Actor, profile coach.Profile, f *Form) (Response, error) {
	v, err := p.coachView(ctx, r, "fees", "upi.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, feesPath+"/upi"
	v.Data = map[string]any{"Profile": profile, "Fresh": p.fresh(r, actor.Coach)}
	return formPageResponse("fee_upi", v), nil
}

// saveUPI serves POST /coach/fees/upi. A change needs an OTP of the last 15 minutes: without
// one the coach signs in again, and finds the form as it was.
func (p *Pages) saveUPI(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return Response{}, err
	}
	var faults wire.Faults
	id := wire.ParseRules("max=321").Text(r.Value("upi_id"), "/upi_id", &faults)
	patch := coach.Patch{UPIID: &id, RecentOTP: p.fresh(r, actor.Coach)}
	input.CheckProfile(patch, &faults)
	if err := faults.Err(); err != nil {
		f := &Form{Values: r.Form}
		p.addFaults(r, f, err, nil)
		return p.upiForm(ctx, r, by, profile, f)
	}
	if !patch.RecentOTP && id != profile.UPIID {
		return Response{}, signInError{Role: actor.Coach, Next: feesPath + "/upi", Cookies: p.keepDraft(r)}
	}
	if _, err := p.Coaches.Edit(ctx, by, patch); err != nil {
		return Response{}, err
	}
	return redirect(feesPath + "?done=upi"), nil
}
