// Package console serves the operators' pages about coaches, their tiers, failed messages and the audit log. Operators
// cannot change consents, so the package does not import approval.
package console

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/web"
)

// Service has the services of the pages.
type Service struct {
	Tokens        *operator.Service
	Accounts      *coach.AccountAdmin
	Subscriptions *coach.Subscriptions
	Deliveries    *outbox.Store
	Streams       *notice.Streams
	Phones        phone.Parser
}

// pages serves the pages.
type pages struct {
	Service
	site *web.Console
}

// ConsolePages returns the pages with the scopes that they need.
func (s Service) ConsolePages(c *web.Console) []web.Route {
	p := pages{s, c}
	search := func(context.Context, *web.Request) (web.Response, error) { return web.Redirect("/deliveries"), nil }
	return []web.Route{
		{Method: "GET", Pattern: "/coaches", Handle: c.Scope(operator.Coaches, p.coaches)},
		{Method: "GET", Pattern: "/coaches/{coach_id}", Handle: c.Scope(operator.Coaches, p.coach)},
		{Method: "POST", Pattern: "/coaches/{coach_id}", Handle: c.Scope(operator.Coaches, p.changeCoach)},
		{Method: "GET", Pattern: "/deliveries", Handle: c.Scope(operator.Deliveries, p.deliveries)},
		{Method: "GET", Pattern: "/deliveries/search", Handle: search},
		{Method: "POST", Pattern: "/deliveries/search", Handle: c.Scope(operator.Deliveries, p.searchDeliveries)},
		{Method: "POST", Pattern: "/deliveries/{delivery_id}", Handle: c.Scope(operator.Deliveries, p.retryDelivery)},
		{Method: "GET", Pattern: "/tier-requests", Handle: c.Scope(operator.Coaches, p.tierRequests)},
		{Method: "POST", Pattern: "/tier-requests/{coach_id}", Handle: c.Scope(operator.Coaches, p.decideTier)},
		{Method: "GET", Pattern: "/audit", Handle: c.Scope(operator.Audit, p.audit)},
	}
}
