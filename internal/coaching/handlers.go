// Package coaching serves profiles, tiers and the directory of coaches, as JSON and pages.
package coaching

import (
	"embed"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// Service serves profiles, tiers and the directory.
type Service struct {
	Auth          *auth.Service
	Coaches       *coach.Service
	Directory     *coach.Directory
	Subscriptions *coach.Subscriptions
}

// handlers serves coaches as JSON.
type handlers struct {
	Service
	api *api.Server
}

// Operations returns the operations of profiles, tiers and the directory.
func (s Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	return []api.Route{
		{Method: "POST", Pattern: "/auth/complete-profile", Handle: endpoint.Handle(h.completeProfile), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/coach/profile", Handle: endpoint.Handle(h.profile), Authorize: api.CoachOnly},
		{Method: "PATCH", Pattern: "/api/coach/profile", Handle: endpoint.Handle(h.editProfile), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "GET", Pattern: "/api/subscription-tiers", Handle: endpoint.Handle(h.listTiers), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/coach/subscription", Handle: endpoint.Handle(h.subscription), Authorize: api.CoachOnly},
		{Method: "PUT", Pattern: "/api/coach/subscription", Handle: endpoint.Handle(h.chooseTier), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/coach/visibility", Handle: endpoint.Handle(h.visibility), Authorize: api.CoachOnly},
		{Method: "PUT", Pattern: "/api/coach/visibility", Handle: endpoint.Handle(h.setVisibility), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/coaches", Handle: endpoint.Handle(h.listCoaches), Authenticate: api.Anonymous, Query: endpoint.Paged("sport", "q")},
		{Method: "GET", Pattern: "/api/coaches/{coach_id}", Handle: endpoint.HandleID("coach_id", h.getCoach), Authenticate: api.Anonymous},
	}
}

// pages serves the pages of profiles, tiers and the directory.
type pages struct {
	Service
	site *web.Pages
}

// Pages returns the pages of profiles, tiers and the directory.
func (s Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	return []web.Route{
		{Method: "GET", Pattern: ProfilePath, Handle: p.site.SignedIn(actor.Coach, p.profilePage)},
		{Method: "POST", Pattern: ProfilePath, Handle: p.site.SignedIn(actor.Coach, p.saveProfile)},
		{Method: "GET", Pattern: visibilityPath, Handle: p.site.SignedIn(actor.Coach, p.visibility)},
		{Method: "POST", Pattern: visibilityPath, Handle: p.site.SignedIn(actor.Coach, p.saveVisibility)},
		{Method: "GET", Pattern: planPath, Handle: p.site.SignedIn(actor.Coach, p.plans)},
		{Method: "POST", Pattern: planPath, Handle: p.site.SignedIn(actor.Coach, p.choosePlan)},
		{Method: "GET", Pattern: planPath + "/{tier}", Handle: p.site.SignedIn(actor.Coach, p.checkPlan)},
		{Method: "GET", Pattern: "/coaches", Handle: p.coaches},
		{Method: "GET", Pattern: "/coaches/{coach_id}", Handle: p.coach},
	}
}
