package handlers

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// players serves GET /coach/players: the parties for which the coach should act, then the roster,
// newest first, with a search by name or number and filters by status. show=needs is web.Pages.NeedsPage.
func (p pages) players(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if r.Value("show") == "needs" {
		return p.site.NeedsPage(ctx, r, by)
	}
	filter := web.PlayerFilter(r)
	list, err := p.Players(ctx, by, filter, approval.Page{Limit: web.PlayersPerPage + 1, After: approval.Keyset{ID: r.Value("after")}})
	if err != nil {
		return web.Response{}, err
	}
	v, err := p.site.CoachView(ctx, r, "players", "players.title", by)
	if err != nil {
		return web.Response{}, err
	}
	filtered := filter != (approval.Filter{})
	var needs coach.Needs
	if !filtered && r.Value("after") == "" {
		if needs, err = p.site.Dashboards.Needs(ctx, by, coach.NeedQuery{Limit: web.NeedsShown}); err != nil {
			return web.Response{}, err
		}
	}
	query := playerQuery(r)
	next := ""
	if len(list) > web.PlayersPerPage {
		list = list[:web.PlayersPerPage]
		after := url.Values{"after": {list[web.PlayersPerPage-1].ID}}
		for name := range query {
			after.Set(name, query.Get(name))
		}
		next = "/coach/players?" + after.Encode()
	}
	batches, err := p.site.BatchNames(ctx, by, offeredBatches)
	if err != nil {
		return web.Response{}, err
	}
	plan, err := p.site.Subscriptions.Of(ctx, by.AccountID)
	if err != nil {
		return web.Response{}, err
	}
	v.Form = &web.Form{Values: r.Form}
	v.Data = map[string]any{
		"CanImport": plan.Tier.Has(coach.Import), "CanExport": plan.Tier.Has(coach.Export),
		"Players": list, "Next": next, "Filtered": filtered || r.Value("after") != "",
		"Needs": needs, "Batches": batches, "Export": "/coach/players/export?" + query.Encode(),
		"Done": v.TextOr("players.done."+r.Value("done"), ""),
	}
	return web.Page("players", v), nil
}

// playerQuery returns the fields of the request that filter the list of players.
func playerQuery(r *web.Request) url.Values {
	query := url.Values{}
	for _, name := range []string{"q", "guardian", "student", "batch"} {
		if value := r.Value(name); value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// offeredBatches is the number of batches that a form offers, newest first.
const offeredBatches = 100
