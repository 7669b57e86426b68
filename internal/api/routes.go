package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/httpx"
)

// route is one operation of the contract. Its zero options are the common case:
// for anybody who is signed in, without a body, answering JSON.
type route struct {
	method  string
	pattern string // as ServeMux writes paths
	handle  handlerFunc

	access access
	// roles may call it; none is every role.
	roles []actor.Role
	// gates are asked after the role, in this order (approval_pending, then
	// profile_incomplete).
	gates []gate
	body  bodyKind
	// once makes the call take an Idempotency-Key.
	once     bool
	produces media
	// limit is how long the call may take; 0 is timeLimit.
	limit time.Duration
	// endless lifts the limit, for streams: they end when the caller leaves.
	endless bool
	// noRateLimit calls do not count against the rate limit per address.
	noRateLimit bool
}

// handlerFunc answers a request or returns why not; the adapter then writes the
// problem. It writes nothing before it knows that it can answer.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// gate refuses a caller whom the role alone would admit.
type gate func(context.Context, actor.Actor) error

// access says who is let in; its zero value is whoever is signed in.
type access int

const (
	// open asks for no sign-in.
	open access = iota + 1
	// optional notes the caller, or in call.refused why there is none.
	optional
)

var (
	coachOnly   = []actor.Role{actor.Coach}
	partiesOnly = []actor.Role{actor.Guardian, actor.Student}
)

// routes lists every operation.
func (s *Server) routes() []route {
	return slices.Concat(s.authRoutes(), s.accountRoutes(), s.documentRoutes(), s.approvalRoutes(), s.subscriptionRoutes(), s.kycRoutes(), s.directoryRoutes(), s.serviceRoutes())
}

// authRoutes are sign-in, sessions and the completion of the profile.
func (s *Server) authRoutes() []route {
	return []route{
		{method: "POST", pattern: "/auth/request-otp", handle: s.requestOTP, access: open, body: bodyJSON},
		{method: "POST", pattern: "/auth/verify-otp", handle: s.verifyOTP, access: open, body: bodyJSON},
		{method: "POST", pattern: "/auth/login", handle: s.login, access: open, body: bodyJSON},
		{method: "POST", pattern: "/auth/refresh", handle: s.refresh, access: open, body: bodyJSON},
		{method: "POST", pattern: "/auth/logout", handle: s.logout, access: optional, body: bodyMaybe},
		{method: "GET", pattern: "/auth/sessions", handle: s.listSessions},
		{method: "DELETE", pattern: "/auth/sessions/{session_id}", handle: s.endSession},
		{method: "POST", pattern: "/auth/complete-profile", handle: s.completeProfile, roles: coachOnly, body: bodyJSON},
		{method: "POST", pattern: "/auth/change-number", handle: s.changeNumber, roles: coachOnly, body: bodyJSON, once: true},
	}
}

// accountRoutes are the account, the coach's profile and the tray.
func (s *Server) accountRoutes() []route {
	return []route{
		{method: "GET", pattern: "/api/me", handle: s.me},
		{method: "DELETE", pattern: "/api/me", handle: s.closeAccount, roles: coachOnly, body: bodyJSON},
		{method: "GET", pattern: "/api/coach/profile", handle: s.profile, roles: coachOnly},
		{method: "PATCH", pattern: "/api/coach/profile", handle: s.editProfile, roles: coachOnly, body: bodyPatch},
		{method: "GET", pattern: "/api/coach/dashboard", handle: s.dashboard, roles: coachOnly},
		{method: "GET", pattern: "/api/notifications", handle: s.listNotifications},
		{method: "POST", pattern: "/api/notifications/read", handle: s.markRead, body: bodyJSON},
		{method: "GET", pattern: "/api/notifications/stream", handle: s.stream, produces: mediaEvents, endless: true},
	}
}

// directoryRoutes are the public directory and a coach's place in it.
func (s *Server) directoryRoutes() []route {
	return []route{
		{method: "GET", pattern: "/api/coach/visibility", handle: s.visibility, roles: coachOnly},
		{method: "PUT", pattern: "/api/coach/visibility", handle: s.setVisibility, roles: coachOnly, body: bodyJSON},
		{method: "GET", pattern: "/api/coaches", handle: s.listCoaches, access: open},
		{method: "GET", pattern: "/api/coaches/{coach_id}", handle: s.getCoach, access: open},
	}
}

// documentRoutes are what a coach keeps here.
func (s *Server) documentRoutes() []route {
	const list, one = "/api/coach/documents", "/api/coach/documents/{document_id}"
	return []route{
		{method: "GET", pattern: list, handle: s.listDocuments, roles: coachOnly},
		{method: "POST", pattern: list, handle: s.addDocument, roles: coachOnly, body: bodyForm},
		{method: "GET", pattern: one, handle: s.getDocument, roles: coachOnly},
		{method: "PATCH", pattern: one, handle: s.editDocument, roles: coachOnly, body: bodyPatch},
		{method: "DELETE", pattern: one, handle: s.deleteDocument, roles: coachOnly},
		{method: "GET", pattern: one + "/content", handle: s.documentContent, access: optional, produces: mediaAny, limit: httpx.FileTimeout},
		{method: "PUT", pattern: one + "/content", handle: s.replaceContent, roles: coachOnly, body: bodyForm},
	}
}

// serviceRoutes are the service's own: documents, keys and health.
func (s *Server) serviceRoutes() []route {
	routes := []route{
		{method: "GET", pattern: "/.well-known/jwks.json", handle: s.jwks, access: open, produces: mediaAny},
		{method: "GET", pattern: "/healthz", handle: s.healthz, access: open, produces: mediaAny, noRateLimit: true},
		{method: "GET", pattern: "/readyz", handle: s.readyz, access: open, produces: mediaAny, noRateLimit: true},
	}
	pages := map[string]http.Handler{}
	if s.docs != nil {
		pages["/openapi.json"] = http.HandlerFunc(s.docs.OpenAPIJSON)
		pages["/docs"] = http.HandlerFunc(s.docs.Page)
		pages["/problems/{$}"] = http.HandlerFunc(s.docs.Problems)
		pages["/problems/{code}"] = http.HandlerFunc(s.docs.Problem)
	}
	for _, more := range []map[string]http.Handler{pages, s.pages} {
		for pattern, page := range more {
			routes = append(routes, route{method: "GET", pattern: pattern, access: open, produces: mediaAny, handle: func(w http.ResponseWriter, r *http.Request) error {
				page.ServeHTTP(w, r)
				return nil
			}})
		}
	}
	return routes
}
