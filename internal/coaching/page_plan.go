package coaching

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

const planPath = web.SettingsPath + "/plan"

// plans serves GET /coach/settings/plan: the limits and features of all tiers side by side.
func (p pages) plans(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	subscription, err := p.Subscriptions.Subscription(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "settings", "plan.title", by)
	tiers := p.Subscriptions.Tiers
	common, some := tiers.CompareFeatures()
	shown := slices.ContainsFunc(tiers.List, func(t coach.Tier) bool {
		return !slices.Equal(t.Shown(coach.Showable), tiers.List[0].Shown(coach.Showable))
	})
	v.Data = map[string]any{
		"Tiers": tiers.List, "Common": common, "Some": some, "ShowsDiffer": shown, "KYC": tiers.KYC,
		"Subscription": subscription, "Done": r.URL.Query().Get("done"),
	}
	return web.Page("plan", v), nil
}

// checkPlan serves GET /coach/settings/plan/{tier}: what changes with this tier. It changes
// nothing.
func (p pages) checkPlan(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	tier, ok := p.Subscriptions.Tiers.Named(r.PathValue("tier"))
	if !ok {
		return web.Response{}, fault.Missing()
	}
	subscription, err := p.Subscriptions.Subscription(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	if subscription.Tier.Name == tier.Name {
		return web.Redirect(planPath), nil
	}
	v := p.site.CoachView(r, "settings", "plan.title", by)
	v.Data = map[string]any{"Tier": tier, "Subscription": subscription, "Change": subscription.Change(tier)}
	return web.Page("plan_check", v), nil
}

// choosePlan serves POST /coach/settings/plan: it takes a self-service tier and asks the
// operator for any other. The current tier ends a request.
func (p pages) choosePlan(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	subscription, err := p.Subscriptions.Choose(ctx, by, r.Value("tier"))
	switch {
	case fault.KindOf(err) == fault.Invalid:
		return web.Response{}, fault.Missing() // the configuration has changed meanwhile
	case err != nil:
		return web.Response{}, err
	case subscription.Requested != "":
		return web.Redirect(planPath + "?done=requested"), nil
	}
	return web.Redirect(planPath + "?done=chosen"), nil
}
