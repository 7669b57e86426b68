package console

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// coaches serves GET /coaches: a search by number or by the beginning of a name. Without
// one it lists the newest coaches.
func (p pages) coaches(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	search := coach.AccountSearch{}
	if q := r.Value("q"); q != "" {
		if number, err := p.Phones.Parse(q); err == nil {
			search.Number = number
		} else {
			search.Name = q
		}
	}
	found, err := p.Accounts.Find(ctx, by, search, web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "coaches", "operator.coaches.title")
	v.Form = &web.Form{Values: r.Form}
	v.Data = map[string]any{"Coaches": found}
	return web.Page("operator_coaches", v), nil
}

// coach serves GET /coaches/{coach_id}.
func (p pages) coach(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	return p.coachPage(ctx, r, by, new(web.Form))
}

func (p pages) coachPage(ctx context.Context, r *web.Request, by actor.Operator, f *web.Form) (web.Response, error) {
	id := r.PathValue("coach_id")
	account, profile, err := p.Accounts.Read(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	subscription, err := p.Subscriptions.Of(ctx, id)
	if err != nil {
		return web.Response{}, err
	}
	onDevice, err := p.Accounts.DeviceApprovals(ctx, id)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "coaches", "operator.coaches.title")
	v.Form = f
	v.Path = "/coaches/" + id
	v.Data = map[string]any{"Account": account, "Profile": profile, "Subscription": subscription, "OnDevice": onDevice}
	return web.FormPage("operator_coach", v), nil
}

// changeCoach serves POST /coaches/{coach_id}: it suspends or restores the account.
func (p pages) changeCoach(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	id := r.PathValue("coach_id")
	var err error
	if r.Value("action") == "restore" {
		err = p.Accounts.Restore(ctx, by, id)
	} else {
		var faults wire.Faults
		reason := wire.ParseRules("name,lines,min=1,max=500").Text(r.Value("reason"), "/reason", &faults)
		if err = faults.Err(); err == nil {
			err = p.Accounts.Suspend(ctx, by, id, reason)
		}
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict:
		f := &web.Form{Values: r.Form}
		if !p.site.Pages.AddFaults(r, f, err, nil) {
			p.site.Pages.AddError(r, f, "", err)
		}
		return p.coachPage(ctx, r, by, f)
	}
	if err != nil {
		return web.Response{}, err
	}
	p.Streams.Hub.Wake(id)
	return web.Redirect("/coaches/" + id), nil
}
