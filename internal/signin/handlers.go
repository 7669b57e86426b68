// Package signin serves sign-in, sessions and accounts, as JSON and pages.
package signin

import (
	"context"
	"embed"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// Service serves sign-in, sessions, passkeys and accounts.
type Service struct {
	Auth     *auth.Service
	Passkeys *auth.Passkeys
	Coaches  *coach.Service
	Streams  *notice.Streams
	// Leave deletes the account of a guardian or student.
	Leave func(context.Context, actor.Actor) error
}

// handlers serves accounts as JSON.
type handlers struct {
	Service
	api *api.Server
}

// Operations returns the operations of sign-in, sessions, passkeys and accounts.
func (s Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	return append(
		passkeyOperations(h),
		api.Route{Method: "POST", Pattern: "/auth/request-otp", Handle: endpoint.Handle(h.requestOTP), Authenticate: api.Anonymous, Body: endpoint.JSON},
		api.Route{Method: "POST", Pattern: "/auth/verify-otp", Handle: endpoint.Handle(h.verifyOTP), Authenticate: api.Anonymous, Body: endpoint.JSON},
		api.Route{Method: "POST", Pattern: "/auth/login", Handle: endpoint.Handle(h.login), Authenticate: api.Anonymous, Body: endpoint.JSON},
		api.Route{Method: "POST", Pattern: "/auth/refresh", Handle: endpoint.Handle(h.refresh), Authenticate: api.Anonymous, Body: endpoint.JSON},
		api.Route{Method: "POST", Pattern: "/auth/logout", Handle: endpoint.Handle(h.logout), Authenticate: h.api.AuthenticateOptional, Body: endpoint.OptionalJSON, Urgent: true},
		api.Route{Method: "GET", Pattern: "/auth/sessions", Handle: endpoint.Handle(h.listSessions), Query: endpoint.Paged()},
		api.Route{Method: "DELETE", Pattern: "/auth/sessions/{session_id}", Handle: endpoint.HandleID("session_id", h.endSession), Urgent: true},
		api.Route{Method: "POST", Pattern: "/auth/change-number", Handle: h.api.Idempotent(endpoint.Handle(h.changeNumber), h.rebuildNumberChange), Authorize: api.CoachOnly, Body: endpoint.JSON},
		api.Route{Method: "GET", Pattern: "/api/me", Handle: endpoint.Handle(h.me)},
		api.Route{Method: "DELETE", Pattern: "/api/me", Handle: endpoint.Handle(h.closeAccount), Body: endpoint.OptionalJSON},
	)
}

// pages serves the pages of sign-in and accounts.
type pages struct {
	Service
	site *web.Pages
}

// Pages returns the pages of sign-in, sessions, passkeys and accounts.
func (s Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	coach := func(h func(context.Context, *web.Request, actor.Actor) (web.Response, error)) web.Handler {
		return site.SignedIn(actor.Coach, h)
	}
	routes := []web.Route{
		{Method: "GET", Pattern: "/sign-in/{role}", Handle: p.signInPage},
		{Method: "POST", Pattern: "/sign-in/{role}", Handle: p.askForCode},
		{Method: "GET", Pattern: "/sign-in/code", Handle: p.codePage},
		{Method: "POST", Pattern: "/sign-in/code", Handle: p.enterCode},
		{Method: "POST", Pattern: "/sign-in/again", Handle: p.sendAgain},
		{Method: "POST", Pattern: "/sign-out", Handle: p.signOut, Urgent: true},
		{Method: "POST", Pattern: web.SettingsPath + "/devices/{session_id}/end", Handle: coach(p.endDevice)},
		{Method: "GET", Pattern: numberPath, Handle: coach(p.changeNumberPage)},
		{Method: "POST", Pattern: numberPath, Handle: coach(p.beginNumberChange)},
		{Method: "GET", Pattern: codesPath, Handle: coach(p.numberCodesPage)},
		{Method: "POST", Pattern: codesPath, Handle: coach(p.changeNumber)},
		{Method: "POST", Pattern: numberPath + "/again", Handle: coach(p.sendNumberCodes)},
		{Method: "GET", Pattern: closePath, Handle: coach(p.closeAccountPage)},
		{Method: "POST", Pattern: closePath, Handle: coach(p.sendCloseCode)},
		{Method: "GET", Pattern: closeCodePath, Handle: coach(p.closeCodePage)},
		{Method: "POST", Pattern: closeCodePath, Handle: p.closeAccount},
		{Method: "GET", Pattern: closedPath, Handle: p.accountClosed},
	}
	for _, role := range []actor.Role{actor.Guardian, actor.Student} {
		base := web.Home(role)
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: base + "/devices", Handle: site.SignedIn(role, p.devices)},
			web.Route{Method: "POST", Pattern: base + "/devices/{session_id}/end", Handle: site.SignedIn(role, p.endDevice)},
			web.Route{Method: "GET", Pattern: base + "/number", Handle: site.SignedIn(role, p.familyNumber)},
		)
	}
	for _, role := range actor.Roles {
		path := emailPath(role)
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: path, Handle: site.SignedIn(role, p.emailPage)},
			web.Route{Method: "POST", Pattern: path, Handle: site.SignedIn(role, p.sendToAddress)},
			web.Route{Method: "GET", Pattern: path + "/code", Handle: site.SignedIn(role, p.emailCodePage)},
			web.Route{Method: "POST", Pattern: path + "/code", Handle: site.SignedIn(role, p.confirmAddress)},
			web.Route{Method: "POST", Pattern: path + "/remove", Handle: site.SignedIn(role, p.removeAddress)},
		)
	}
	return append(routes, passkeyPages{s.Passkeys, p}.routes()...)
}
