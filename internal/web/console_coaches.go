package web

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// coaches serves GET /coaches: a search by number or by the beginning of a name. Without
// one it lists the newest coaches.
func (c *Console) coaches(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	search := coach.AccountSearch{}
	if q := r.Value("q"); q != "" {
		if number, err := c.Phones.Parse(q); err == nil {
			search.Number = number
		} else {
			search.Name = q
		}
	}
	found, err := c.Accounts.Find(ctx, by, search, ListPage)
	if err != nil {
		return Response{}, err
	}
	v := c.NewView(r, "coaches", "operator.coaches.title")
	v.Form = &Form{Values: r.Form}
	v.Data = map[string]any{"Coaches": found}
	return Page("operator_coaches", v), nil
}

// coach serves GET /coaches/{coach_id}.
func (c *Console) coach(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	return c.coachPage(ctx, r, by, new(Form))
}

func (c *Console) coachPage(ctx context.Context, r *Request, by actor.Operator, f *Form) (Response, error) {
	id := r.PathValue("coach_id")
	account, profile, err := c.Accounts.Read(ctx, by, id)
	if err != nil {
		return Response{}, err
	}
	subscription, err := c.Subscriptions.Of(ctx, id)
	if err != nil {
		return Response{}, err
	}
	onDevice, err := c.Accounts.DeviceApprovals(ctx, id)
	if err != nil {
		return Response{}, err
	}
	v := c.NewView(r, "coaches", "operator.coaches.title")
	v.Form = f
	v.Path = "/coaches/" + id
	v.Data = map[string]any{"Account": account, "Profile": profile, "Subscription": subscription, "OnDevice": onDevice}
	return FormPage("operator_coach", v), nil
}

// changeCoach serves POST /coaches/{coach_id}: it suspends or restores the account.
func (c *Console) changeCoach(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	id := r.PathValue("coach_id")
	var err error
	if r.Value("action") == "restore" {
		err = c.Accounts.Restore(ctx, by, id)
	} else {
		var faults wire.Faults
		reason := wire.ParseRules("name,lines,min=1,max=500").Text(r.Value("reason"), "/reason", &faults)
		if err = faults.Err(); err == nil {
			err = c.Accounts.Suspend(ctx, by, id, reason)
		}
	}
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict:
		f := &Form{Values: r.Form}
		if !c.Pages.AddFaults(r, f, err, nil) {
			c.Pages.AddError(r, f, "", err)
		}
		return c.coachPage(ctx, r, by, f)
	}
	if err != nil {
		return Response{}, err
	}
	c.Streams.Hub.Wake(id)
	return Redirect("/coaches/" + id), nil
}
