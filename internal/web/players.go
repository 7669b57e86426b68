package web

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
)

const (
	// playersPerPage is the length of one page of the roster.
	playersPerPage = 50
	// maxSearch is the number of characters of a search.
	maxSearch = 100
	// needsShown is the number of needs above the roster and on Today.
	needsShown = 5
)

// players serves GET /coach/players: who needs the coach, then the roster, newest first,
// with a search by name or number and filters by status. show=needs lists every need.
func (p *Pages) players(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	filter := playerFilter(r)
	list, err := p.Approvals.Players(ctx, by, filter, approval.Page{Limit: playersPerPage + 1, After: approval.Keyset{ID: r.Value("after")}})
	if err != nil {
		return Response{}, err
	}
	v, err := p.coachView(ctx, r, "players", "players.title", by)
	if err != nil {
		return Response{}, err
	}
	filtered := filter != (approval.Filter{})
	needsOnly := r.Value("show") == "needs"
	var needs []need
	total := 0
	if !filtered && r.Value("after") == "" {
		board, err := p.Dashboards.Of(ctx, by)
		if err != nil {
			return Response{}, err
		}
		if needs, err = p.needs(ctx, by, board); err != nil {
			return Response{}, err
		}
		if total = len(needs); !needsOnly {
			needs = needs[:min(total, needsShown)]
		}
	}
	query := playerQuery(r)
	next := ""
	if len(list) > playersPerPage {
		list = list[:playersPerPage]
		after := url.Values{"after": {list[playersPerPage-1].ID}}
		for name := range query {
			after.Set(name, query.Get(name))
		}
		next = "/coach/players?" + after.Encode()
	}
	if needsOnly {
		list, next = nil, ""
	}
	v.Form = &Form{Values: r.Form}
	v.Data = map[string]any{
		"Players": list, "Next": next, "Filtered": filtered || r.Value("after") != "",
		"Needs": needs, "NeedsTotal": total, "NeedsOnly": needsOnly, "Export": "/coach/players/export?" + query.Encode(),
		"Done": v.textOr("players.done."+r.Value("done"), ""),
	}
	return page("players", v), nil
}

// playerQuery returns the fields of the request that filter the list of players.
func playerQuery(r *Request) url.Values {
	query := url.Values{}
	for _, name := range []string{"q", "guardian", "student"} {
		if value := r.Value(name); value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// playerFilter reads the filter of the list of players.
func playerFilter(r *Request) approval.Filter {
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
	return filter
}
