package web

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
)

// playersPerPage is the length of one page of the roster.
const playersPerPage = 50

// players serves GET /coach/players: the roster, newest first, with a search by name or
// number and a filter by status.
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
	next := ""
	if len(list) > playersPerPage {
		list = list[:playersPerPage]
		query := url.Values{"after": {list[playersPerPage-1].ID}}
		for _, name := range []string{"q", "guardian", "student"} {
			if value := r.Value(name); value != "" {
				query.Set(name, value)
			}
		}
		next = "/coach/players?" + query.Encode()
	}
	v.Form = &Form{Values: r.Form}
	v.Data = map[string]any{"Players": list, "Next": next, "Filtered": filter != (approval.Filter{}) || r.Value("after") != ""}
	return page("players", v), nil
}

// playerFilter reads the filter of the list of players.
func playerFilter(r *Request) approval.Filter {
	filter := approval.Filter{Search: r.Value("q")}
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
