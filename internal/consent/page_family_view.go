package consent

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/web"
)

// familyView serves GET /coach/family-view: the question as a guardian of the coach reads it, about a sample child. It sends nothing.
func (p pages) familyView(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	plan, err := p.Subscriptions.Of(ctx, by.AccountID)
	if err != nil {
		return web.Response{}, err
	}
	batches, err := store.BatchNames(ctx, p.DB, by.AccountID, 1)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "family_view.title", by)
	q := question{
		Coach: message.Name(profile.Name, ""), Student: v.MustT("family_view.child"), Guardian: true, Chat: p.Rules.HasChat,
		Services: web.ServicesOf(approval.ConsentStatus{CoachTier: plan.Tier.Name}.Availability(p.Rules, p.Now())),
	}
	if len(batches) > 0 {
		q.Batch = message.Name(batches[0].Name, "")
	}
	if q.Picture, q.Verified, err = p.site.ShownOf(ctx, by.AccountID); err != nil {
		return web.Response{}, err
	}
	v.Data = q
	return web.Page("family_view", v), nil
}
