package web

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

func (p *Pages) familyRoutes() []Route {
	routes := []Route{{Method: "GET", Pattern: "/me", Handle: p.me}}
	for _, role := range approval.Parties {
		base := "/me/" + string(role)
		routes = append(
			routes,
			Route{Method: "GET", Pattern: base + "/settings", Handle: p.SignedIn(role, p.familySettings)},
			Route{Method: "POST", Pattern: base + "/settings", Handle: p.SignedIn(role, p.saveFamilySettings)},
		)
	}
	return routes
}

// PlayerPath returns the page of a player for a party.
func PlayerPath(role actor.Role, playerID string) string {
	return "/me/" + string(role) + "/players/" + playerID
}

// me serves GET /me: it goes to the role in which this browser is signed in, and lets a
// person choose who is signed in as both or as none.
func (p *Pages) me(_ context.Context, r *Request) (Response, error) {
	_, guardian := r.Actor(actor.Guardian)
	_, student := r.Actor(actor.Student)
	switch {
	case guardian && student:
		return Redirect("/"), nil
	case guardian:
		return Redirect("/me/guardian"), nil
	case student:
		return Redirect("/me/student"), nil
	}
	return Redirect("/sign-in/family"), nil
}
