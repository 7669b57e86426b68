package handlers

import (
	"embed"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the pages of consent.
type pages struct {
	*approval.Service
	site *web.Pages
}

// Pages returns the pages of players for their coaches.
func Pages(s *approval.Service) func(*web.Pages) []web.Route {
	return func(site *web.Pages) []web.Route { return pages{s, site}.playerRoutes() }
}

func (p pages) playerRoutes() []web.Route {
	const players, one = "/coach/players", "/coach/players/{player_id}"
	return []web.Route{
		{Method: "GET", Pattern: players, Handle: p.site.SignedIn(actor.Coach, p.players)},
		{Method: "GET", Pattern: players + "/add", Handle: p.site.SignedIn(actor.Coach, p.addPlayerPage)},
		{Method: "POST", Pattern: players + "/add", Handle: p.site.SignedIn(actor.Coach, p.addPlayer)},
		{Method: "GET", Pattern: players + "/remind", Handle: p.site.SignedIn(actor.Coach, p.remindAllPage)},
		{Method: "POST", Pattern: players + "/remind", Handle: p.site.SignedIn(actor.Coach, p.remindAll)},
		{Method: "GET", Pattern: players + "/sheet", Handle: p.site.SignedIn(actor.Coach, p.sheet)},
		{Method: "GET", Pattern: one, Handle: p.site.SignedIn(actor.Coach, p.player)},
		{Method: "GET", Pattern: one + "/edit", Handle: p.site.SignedIn(actor.Coach, p.editPlayerPage)},
		{Method: "POST", Pattern: one + "/edit", Handle: p.site.SignedIn(actor.Coach, p.editPlayer)},
		{Method: "GET", Pattern: one + "/remove", Handle: p.site.SignedIn(actor.Coach, p.removePlayerPage)},
		{Method: "POST", Pattern: one + "/remove", Handle: p.site.SignedIn(actor.Coach, p.removePlayer)},
		{Method: "GET", Pattern: one + "/qr", Handle: p.site.SignedIn(actor.Coach, p.qrPage)},
		{Method: "POST", Pattern: one + "/remind", Handle: p.site.SignedIn(actor.Coach, p.remind)},
		{Method: "POST", Pattern: one + "/ask", Handle: p.site.SignedIn(actor.Coach, p.ask)},
		{Method: "POST", Pattern: one + "/cancel", Handle: p.site.SignedIn(actor.Coach, p.cancelRequest)},
		{Method: "POST", Pattern: one + "/call", Handle: p.site.SignedIn(actor.Coach, p.noteCall)},
	}
}
