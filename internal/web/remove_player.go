package web

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// removePlayerPage serves GET /coach/players/{player_id}/remove: it says what ends.
func (p *Pages) removePlayerPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, err := p.PlayerInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "players", "remove.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Data = player
	return Page("remove_player", v), nil
}

// removePlayer serves POST …/remove. The same form sent twice finds no player the second
// time, and succeeds.
func (p *Pages) removePlayer(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return Response{}, err
	}
	if err := p.Approvals.Remove(ctx, by, id); err != nil && fault.KindOf(err) != fault.NotFound {
		return Response{}, err
	}
	return Redirect("/coach/players?done=removed"), nil
}
