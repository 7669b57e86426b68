package web

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

const (
	// PlayersPerPage is the length of one page of the roster.
	PlayersPerPage = 50
	// maxSearch is the number of characters of a search.
	maxSearch = 100
)

// players serves GET /coach/players: the parties for which the coach should act, then the roster,
// newest first, with a search by name or number and filters by status. show=needs is needsPage.
func (p *Pages) players(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if r.Value("show") == "needs" {
		return p.needsPage(ctx, r, by)
	}
	filter := PlayerFilter(r)
	list, err := p.Approvals.Players(ctx, by, filter, approval.Page{Limit: PlayersPerPage + 1, After: approval.Keyset{ID: r.Value("after")}})
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "players", "players.title", by)
	if err != nil {
		return Response{}, err
	}
	filtered := filter != (approval.Filter{})
	var needs coach.Needs
	if !filtered && r.Value("after") == "" {
		if needs, err = p.Dashboards.Needs(ctx, by, coach.NeedQuery{Limit: needsShown}); err != nil {
			return Response{}, err
		}
	}
	query := playerQuery(r)
	next := ""
	if len(list) > PlayersPerPage {
		list = list[:PlayersPerPage]
		after := url.Values{"after": {list[PlayersPerPage-1].ID}}
		for name := range query {
			after.Set(name, query.Get(name))
		}
		next = "/coach/players?" + after.Encode()
	}
	batches, err := p.BatchNames(ctx, by, offeredBatches)
	if err != nil {
		return Response{}, err
	}
	plan, err := p.Subscriptions.Of(ctx, by.AccountID)
	if err != nil {
		return Response{}, err
	}
	v.Form = &Form{Values: r.Form}
	v.Data = map[string]any{
		"CanImport": plan.Tier.Has(coach.Import), "CanExport": plan.Tier.Has(coach.Export),
		"Players": list, "Next": next, "Filtered": filtered || r.Value("after") != "",
		"Needs": needs, "Batches": batches, "Export": "/coach/players/export?" + query.Encode(),
		"Done": v.TextOr("players.done."+r.Value("done"), ""),
	}
	return Page("players", v), nil
}

// playerQuery returns the fields of the request that filter the list of players.
func playerQuery(r *Request) url.Values {
	query := url.Values{}
	for _, name := range []string{"q", "guardian", "student", "batch"} {
		if value := r.Value(name); value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// PlayerFilter reads the filter of the list of players.
func PlayerFilter(r *Request) approval.Filter {
	search := []rune(r.Value("q"))
	filter := approval.Filter{Search: string(search[:min(len(search), maxSearch)])}
	switch status := r.Value("guardian"); status {
	case "pending", "approved", "rejected":
		filter.GuardianStatus = status
	}
	switch status := r.Value("student"); status {
	case "pending", "approved", "rejected":
		filter.StudentStatus = status
	}
	if id := r.Value("batch"); endpoint.IsID(id) {
		filter.BatchID = id
	}
	return filter
}

// offeredBatches is the number of batches that a form offers, newest first.
const offeredBatches = 100
