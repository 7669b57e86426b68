// Package notifications serves notifications in the app, their streams, push subscriptions and the
// preferences of messages, as JSON and pages.
package notifications

import (
	"embed"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// Service serves notifications, their streams, push subscriptions and preferences.
type Service struct {
	Auth          *auth.Service
	Passkeys      *auth.Passkeys
	Approvals     *player.Service
	Subscriptions *coach.Subscriptions
	Tray          *notice.Tray
	Streams       *notice.Streams
	Push          *notice.PushSubscriptions
	Preferences   *outbox.Store
}

// handlers serves notifications as JSON.
type handlers struct {
	Service
	api *api.Server
}

// Operations returns the operations of notifications.
func (s Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	return []api.Route{
		{Method: "GET", Pattern: "/api/me/preferences", Handle: endpoint.Handle(h.preferences)},
		{Method: "PATCH", Pattern: "/api/me/preferences", Handle: endpoint.Handle(h.editPreferences), Body: endpoint.MergePatch},
		{Method: "GET", Pattern: pushPath, Handle: endpoint.Handle(h.pushSubscription)},
		{Method: "POST", Pattern: pushPath, Handle: a.Idempotent(endpoint.Handle(h.subscribePush), h.rebuildPush), Body: endpoint.JSON},
		{Method: "DELETE", Pattern: pushPath, Handle: endpoint.Handle(h.unsubscribePush), Urgent: true},
		{Method: "GET", Pattern: "/api/notifications", Handle: endpoint.Handle(h.listNotifications), Query: endpoint.Paged("unread")},
		{Method: "POST", Pattern: "/api/notifications/read", Handle: endpoint.Handle(h.markRead), Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/notifications/stream", Handle: endpoint.Handle(h.stream), Produces: "text/event-stream", NoTimeout: true},
	}
}

// pages serves the pages of notifications.
type pages struct {
	Service
	site *web.Pages
}

// Pages returns the pages of notifications, and behind the link and the header List-Unsubscribe of mails.
func (s Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	routes := []web.Route{
		{Method: "GET", Pattern: notificationsPath, Handle: site.SignedIn(actor.Coach, p.notifications)},
		{Method: "POST", Pattern: notificationsPath + "/read", Handle: site.SignedIn(actor.Coach, p.readNotifications)},
		{Method: "GET", Pattern: "/unsubscribe/{token}", Handle: p.unsubscribePage},
		{Method: "POST", Pattern: "/unsubscribe/{token}", Handle: p.unsubscribe, Urgent: true, Multipart: true},
		{Method: "POST", Pattern: "/unsubscribe/{token}/allow", Handle: p.allowMail},
	}
	for _, role := range actor.Roles {
		base := web.Home(role)
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: base + "/events", Handle: site.SignedIn(role, p.events), Stream: true},
			web.Route{Method: "GET", Pattern: base + "/settings", Handle: site.SignedIn(role, p.settings)},
			web.Route{Method: "POST", Pattern: base + "/settings", Handle: site.SignedIn(role, p.saveSettings)},
			web.Route{Method: "POST", Pattern: base + "/settings/push", Handle: site.SignedIn(role, p.subscribePush)},
			web.Route{Method: "POST", Pattern: base + "/settings/push/end", Handle: site.SignedIn(role, p.unsubscribePush)},
		)
	}
	for _, role := range approval.Parties {
		base := web.Home(role)
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: base + "/messages", Handle: site.SignedIn(role, p.messages)},
			web.Route{Method: "POST", Pattern: base + "/messages/read", Handle: site.SignedIn(role, p.readMessages)},
			web.Route{Method: "POST", Pattern: base + "/settings/coaches/{coach_id}/allow", Handle: site.SignedIn(role, p.allowCoach)},
			web.Route{Method: "POST", Pattern: base + "/players/{player_id}/coach-messages", Handle: site.SignedIn(role, p.coachMessages)},
		)
	}
	return routes
}
