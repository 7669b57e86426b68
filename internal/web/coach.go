package web

import (
	"context"

	"github.com/touchline/touchline/internal/actor"
)

func (p *Pages) coachRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/coach", Handle: p.signedIn(actor.Coach, p.today)},
		{Method: "GET", Pattern: "/coach/events", Handle: p.signedIn(actor.Coach, p.events), Stream: true},
		{Method: "GET", Pattern: "/coach/profile", Handle: p.signedIn(actor.Coach, p.profilePage)},
		{Method: "POST", Pattern: "/coach/profile", Handle: p.signedIn(actor.Coach, p.saveProfile)},
	}
}

// today serves GET /coach: what needs the coach, then the state of the roster.
func (p *Pages) today(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	board, err := p.Dashboards.Of(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.coachView(ctx, r, "today", "today.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Data = board
	return page("today", v), nil
}
