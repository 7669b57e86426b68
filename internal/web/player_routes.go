package web

import "github.com/touchline/touchline/internal/platform/actor"

// playerRoutes lists the coach's pages about players.
func (p *Pages) playerRoutes() []Route {
	const players, one = "/coach/players", "/coach/players/{player_id}"
	return []Route{
		{Method: "GET", Pattern: players, Handle: p.SignedIn(actor.Coach, p.players)},
		{Method: "GET", Pattern: players + "/add", Handle: p.SignedIn(actor.Coach, p.addPlayerPage)},
		{Method: "POST", Pattern: players + "/add", Handle: p.SignedIn(actor.Coach, p.addPlayer)},
		{Method: "GET", Pattern: players + "/remind", Handle: p.SignedIn(actor.Coach, p.remindAllPage)},
		{Method: "POST", Pattern: players + "/remind", Handle: p.SignedIn(actor.Coach, p.remindAll)},
		{Method: "GET", Pattern: players + "/sheet", Handle: p.SignedIn(actor.Coach, p.sheet)},
		{Method: "GET", Pattern: one, Handle: p.SignedIn(actor.Coach, p.player)},
		{Method: "GET", Pattern: one + "/edit", Handle: p.SignedIn(actor.Coach, p.editPlayerPage)},
		{Method: "POST", Pattern: one + "/edit", Handle: p.SignedIn(actor.Coach, p.editPlayer)},
		{Method: "GET", Pattern: one + "/remove", Handle: p.SignedIn(actor.Coach, p.removePlayerPage)},
		{Method: "POST", Pattern: one + "/remove", Handle: p.SignedIn(actor.Coach, p.removePlayer)},
		{Method: "GET", Pattern: one + "/qr", Handle: p.SignedIn(actor.Coach, p.qrPage)},
		{Method: "POST", Pattern: one + "/remind", Handle: p.SignedIn(actor.Coach, p.remind)},
		{Method: "POST", Pattern: one + "/ask", Handle: p.SignedIn(actor.Coach, p.ask)},
		{Method: "POST", Pattern: one + "/cancel", Handle: p.SignedIn(actor.Coach, p.cancelRequest)},
		{Method: "POST", Pattern: one + "/call", Handle: p.SignedIn(actor.Coach, p.noteCall)},
	}
}
