package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/touchline/touchline/internal/actor"
)

func (p *Pages) startRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{$}", Handle: p.start},
		{Method: "POST", Pattern: "/language", Handle: p.chooseLanguage},
	}
}

// start serves GET /: a start page for people, and an index for programs.
func (p *Pages) start(_ context.Context, r *Request) (Response, error) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return Response{Write: p.index}, nil
	}
	v := p.view(r, "start.title")
	var signedIn []actor.Role
	for _, role := range actor.Roles {
		if r.Sessions[role] != nil {
			signedIn = append(signedIn, role)
		}
	}
	v.Data = map[string]any{"SignedIn": signedIn}
	return page("start", v), nil
}

// index writes the addresses that programs need.
func (p *Pages) index(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]string{
		"service": p.Brand, "openapi": "/openapi.json", "documentation": "/docs", "health": "/healthz", "ready": "/readyz", "keys": "/.well-known/jwks.json",
	})
}

func isMultipart(r *Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/")
}
