package consent

import (
	"embed"
	"slices"

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
	Service
	site *web.Pages
}

// Strip are the figures at the top of the page of a player.
type Strip struct {
	// Attended is how many of the Marks of the last 90 days are present or late.
	Attended, Marks int
	// Balance is what is still to pay in Currency, that of the fee that is due first.
	Balance  int64
	Currency string
	// Metric and Result are from the newest measurement; "" without one.
	Metric, Result string
}

// Percent returns the share of the trainings at which the player was, in percent.
func (s Strip) Percent() int { return (s.Attended*100 + s.Marks/2) / max(1, s.Marks) }

// Pages returns the pages of players for their coaches, and of questions for families.
func (s Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	return slices.Concat(p.playerRoutes(), p.guardianRoutes("/coach/players/{player_id}"), p.linkRoutes(), p.familyRoutes())
}

func (p pages) playerRoutes() []web.Route {
	const players, one = "/coach/players", "/coach/players/{player_id}"
	return []web.Route{
		{Method: "GET", Pattern: players, Handle: p.site.SignedIn(actor.Coach, p.players)},
		{Method: "GET", Pattern: "/coach/family-view", Handle: p.site.SignedIn(actor.Coach, p.familyView)},
		{Method: "GET", Pattern: players + "/add", Handle: p.site.SignedIn(actor.Coach, p.addPlayerPage)},
		{Method: "POST", Pattern: players + "/add", Handle: p.site.SignedIn(actor.Coach, p.addPlayer)},
		{Method: "GET", Pattern: players + "/remind", Handle: p.site.SignedIn(actor.Coach, p.remindAllPage)},
		{Method: "POST", Pattern: players + "/remind", Handle: p.site.SignedIn(actor.Coach, p.remindAll)},
		{Method: "GET", Pattern: players + "/sheet", Handle: p.site.SignedIn(actor.Coach, p.sheet)},
		{Method: "GET", Pattern: one, Handle: p.site.SignedIn(actor.Coach, p.player)},
		{Method: "GET", Pattern: one + "/edit", Handle: p.site.SignedIn(actor.Coach, p.editPlayerPage)},
		{Method: "POST", Pattern: one + "/edit", Handle: p.site.SignedIn(actor.Coach, p.editPlayer)},
		{Method: "GET", Pattern: one + "/medical", Handle: p.site.SignedIn(actor.Coach, p.medicalPage)},
		{Method: "POST", Pattern: one + "/medical", Handle: p.site.SignedIn(actor.Coach, p.readMedical)},
		{Method: "GET", Pattern: one + "/remove", Handle: p.site.SignedIn(actor.Coach, p.removePlayerPage)},
		{Method: "POST", Pattern: one + "/remove", Handle: p.site.SignedIn(actor.Coach, p.removePlayer)},
		{Method: "GET", Pattern: one + "/qr", Handle: p.site.SignedIn(actor.Coach, p.qrPage)},
		{Method: "POST", Pattern: one + "/remind", Handle: p.site.SignedIn(actor.Coach, p.remind)},
		{Method: "POST", Pattern: one + "/ask", Handle: p.site.SignedIn(actor.Coach, p.ask)},
		{Method: "POST", Pattern: one + "/cancel", Handle: p.site.SignedIn(actor.Coach, p.cancelRequest)},
		{Method: "POST", Pattern: one + "/call-now", Handle: p.site.SignedIn(actor.Coach, p.callParty)},
		{Method: "POST", Pattern: one + "/call", Handle: p.site.SignedIn(actor.Coach, p.noteCall)},
	}
}

func (p pages) familyRoutes() []web.Route {
	routes := []web.Route{
		{Method: "GET", Pattern: "/me/dispute-ended", Handle: p.lifted},
		{Method: "POST", Pattern: "/me/student/players/{player_id}/end-guardian-view", Handle: p.site.SignedIn(actor.Student, p.endView)},
	}
	for _, role := range approval.Parties {
		base := "/me/" + string(role)
		one := base + "/players/{player_id}"
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: one + "/medical", Handle: p.site.SignedIn(role, p.familyMedicalPage)},
			web.Route{Method: "POST", Pattern: one + "/medical", Handle: p.site.SignedIn(role, p.readOwnMedical)},
			web.Route{Method: "GET", Pattern: base + "/disputes", Handle: p.site.SignedIn(role, p.disputes)},
			web.Route{Method: "GET", Pattern: base + "/disputes/{request_id}", Handle: p.site.SignedIn(role, p.liftPage)},
			web.Route{Method: "POST", Pattern: base + "/disputes/{request_id}", Handle: p.site.SignedIn(role, p.lift)},
			web.Route{Method: "GET", Pattern: one + "/answer", Handle: p.site.SignedIn(role, p.answer)},
			web.Route{Method: "GET", Pattern: one + "/check", Handle: p.site.SignedIn(role, p.check)},
			web.Route{Method: "POST", Pattern: one + "/check", Handle: p.site.SignedIn(role, p.beginCheck)},
			web.Route{Method: "GET", Pattern: one + "/decide", Handle: p.site.SignedIn(role, p.toAnswer)},
			web.Route{Method: "POST", Pattern: one + "/decide", Handle: p.site.SignedIn(role, p.decide), Urgent: true},
			web.Route{Method: "GET", Pattern: one + "/not-me", Handle: p.site.SignedIn(role, p.dispute)},
			web.Route{Method: "POST", Pattern: one + "/not-me", Handle: p.site.SignedIn(role, p.fileDispute), Urgent: true},
			web.Route{Method: "GET", Pattern: one + "/done", Handle: p.site.SignedIn(role, p.done)},
		)
	}
	return routes
}
