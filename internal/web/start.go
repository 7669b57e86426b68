package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
)

func (p *Pages) startRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{$}", Handle: p.start},
		{Method: "GET", Pattern: "/me", Handle: p.me},
		{Method: "GET", Pattern: "/coach/more", Handle: p.SignedIn(actor.Coach, p.more)},
		{Method: "GET", Pattern: "/robots.txt", Handle: p.robots},
		{Method: "POST", Pattern: "/language", Handle: p.chooseLanguage},
	}
}

// start serves GET /: a start page for people, and an index for programs.
func (p *Pages) start(_ context.Context, r *Request) (Response, error) {
	r.w.Header().Add("Vary", "Accept")
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return Response{Write: p.index}, nil
	}
	v := p.NewView(r, "start.title")
	v.Description = v.MustT("start.lead")
	var signedIn []actor.Role
	for _, role := range actor.Roles {
		if r.Sessions[role] != nil {
			signedIn = append(signedIn, role)
		}
	}
	if r.URL.RequestURI() == installedPath && len(signedIn) == 1 {
		return Redirect(Home(signedIn[0])), nil
	}
	v.Data = map[string]any{"SignedIn": signedIn}
	resp := Page("start", v)
	resp.Header = http.Header{"X-Robots-Tag": nil} // for search engines; no cache keeps it, because it depends on the session
	return resp, nil
}

// index writes the addresses that programs need.
func (p *Pages) index(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]string{
		"service": p.Brand, "openapi": "/openapi.json", "documentation": "/docs", "health": "/healthz", "ready": "/readyz", "keys": "/.well-known/jwks.json",
	})
}

// robots serves GET /robots.txt: search engines may list the start page, the directory with
// its pictures, and the reference for developers. All other pages say noindex, too.
func (p *Pages) robots(context.Context, *Request) (Response, error) {
	return Response{Write: func(w http.ResponseWriter, _ *http.Request) error {
		h := w.Header()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("Cache-Control", "public, max-age=86400")
		_, err := io.WriteString(w, "User-agent: *\nAllow: /$\nAllow: /coaches\nAllow: /api/coach/documents/\nAllow: /static/\nAllow: /docs\nDisallow: /\n")
		return err
	}}, nil
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
