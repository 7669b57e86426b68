// Package screens serves what shows several features at once: the page Today of a coach and its JSON, the page of a batch,
// the first pages of a family, the figures of a player, and the exports. It stands above the features and calls their services.
package screens

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/training"
	"github.com/touchline/touchline/internal/verification"
	"github.com/touchline/touchline/internal/web"
)

// Service reads from the services of the features.
type Service struct {
	DB            *store.DB
	Accounts      *auth.Service
	Approvals     *player.Service
	Profiles      *coach.Service
	Dashboards    *coach.Dashboards
	Subscriptions *coach.Subscriptions
	Tray          *notice.Tray
	Fees          *fee.Service
	Batches       *batch.Service
	Attended      *attendance.Service
	Trainings     *training.Service
	Records       *progress.Service
	Conversations *conversation.Service
	Documents     *document.Service
	Verifications *verification.Service
	Proof         *proof.Service
}

// handlers serves JSON.
type handlers struct {
	Service
	api *api.Server
}

// Operations returns the dashboard and the export of a coach.
func (s Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	return []api.Route{
		{Method: "GET", Pattern: "/api/coach/dashboard", Handle: endpoint.Handle(h.dashboard), Authorize: api.CoachOnly},
		{
			Method: "GET", Pattern: "/api/export", Handle: endpoint.Handle(h.export), Authorize: api.CoachOnly,
			Produces: csvfile.ArchiveMediaType, Timeout: httpx.FileTimeout,
		},
	}
}

// pages serves pages.
type pages struct {
	Service
	site *web.Pages
}

// Pages returns the first pages of coaches and families, the page of a batch and the schedule of a player.
func (s Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	child := func(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
		return s.ChildPage(ctx, site, r, by)
	}
	routes := []web.Route{
		{Method: "GET", Pattern: "/coach", Handle: site.SignedIn(actor.Coach, p.today)},
		{Method: "GET", Pattern: "/coach/batches/{batch_id}", Handle: site.SignedIn(actor.Coach, p.batch)},
		{Method: "GET", Pattern: web.SettingsPath + "/export", Handle: site.SignedIn(actor.Coach, p.export)},
	}
	for _, role := range approval.Parties {
		home := web.Home(role)
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: home, Handle: site.SignedIn(role, p.permissions)},
			web.Route{Method: "GET", Pattern: home + "/players/{player_id}", Handle: site.SignedIn(role, child)},
			web.Route{Method: "GET", Pattern: home + "/players/{player_id}/schedule", Handle: site.SignedIn(role, p.schedule)},
		)
	}
	return routes
}
