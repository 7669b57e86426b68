package web

import "github.com/touchline/touchline/internal/actor"

// accountRoutes lists the pages on which coaches manage their own account.
func (p *Pages) accountRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: notificationsPath, Handle: p.signedIn(actor.Coach, p.notifications)},
		{Method: "POST", Pattern: notificationsPath + "/read", Handle: p.signedIn(actor.Coach, p.readNotifications)},
	}
}
