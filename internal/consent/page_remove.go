package consent

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// removePlayerPage serves GET /coach/players/{player_id}/remove: it says what ends.
func (p pages) removePlayerPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "remove.title", by)
	v.Data = player
	return web.Page("remove_player", v), nil
}

// removePlayer serves POST …/remove. The same form sent twice finds no player the second
// time, and succeeds.
func (p pages) removePlayer(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Remove(ctx, by, r.PathValue("player_id")); err != nil && fault.KindOf(err) != fault.NotFound {
		return web.Response{}, err
	}
	return web.Redirect("/coach/players?done=removed"), nil
}
