// Package handlers serves notifications in the app, their streams, push subscriptions and the
// preferences of messages, as JSON.
package handlers

import (
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

// calls serves notifications as JSON.
type calls struct{ api *api.Server }

// Operations returns the operations of notifications.
func Operations(a *api.Server) []api.Route {
	h := calls{a}
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
