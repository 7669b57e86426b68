package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/upload"
)

// routes lists every operation.
func (s *Server) routes() []route {
	return withCSVRoutes(slices.Concat(s.authRoutes(), s.accountRoutes(), s.coachRoutes(), s.documentRoutes(), s.approvalRoutes(), s.directoryRoutes(), s.batchRoutes(), s.attendanceRoutes(), s.messageRoutes(), s.recordRoutes(), s.feeRoutes(), s.serviceRoutes()))
}

// handle is endpoint.Handle for the handlers of this package.
func handle[T any](h func(context.Context, Request[T]) (Response, error)) endpoint.Handler[Caller] {
	return endpoint.Handle(h)
}

// handleID is endpoint.HandleID for the handlers of this package.
func handleID[T any](name string, h func(context.Context, Request[T], string) (Response, error)) endpoint.Handler[Caller] {
	return endpoint.HandleID(name, h)
}

func (s *Server) authRoutes() []route {
	return []route{
		{Method: "POST", Pattern: "/auth/request-otp", Handle: handle(s.requestOTP), Authenticate: anonymous, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/verify-otp", Handle: handle(s.verifyOTP), Authenticate: anonymous, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/login", Handle: handle(s.login), Authenticate: anonymous, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/refresh", Handle: handle(s.refresh), Authenticate: anonymous, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/logout", Handle: handle(s.logout), Authenticate: s.authenticateOptional, Body: endpoint.OptionalJSON, Urgent: true},
		{Method: "GET", Pattern: "/auth/sessions", Handle: handle(s.listSessions), Query: endpoint.Paged()},
		{Method: "DELETE", Pattern: "/auth/sessions/{session_id}", Handle: handleID("session_id", s.endSession), Urgent: true},
		{Method: "POST", Pattern: "/auth/complete-profile", Handle: handle(s.completeProfile), Authorize: coachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/change-number", Handle: s.idempotent(handle(s.changeNumber), s.rebuildNumberChange), Authorize: coachOnly, Body: endpoint.JSON},
	}
}

func (s *Server) accountRoutes() []route {
	return []route{
		{Method: "GET", Pattern: "/api/me", Handle: handle(s.me)},
		{Method: "DELETE", Pattern: "/api/me", Handle: handle(s.closeAccount), Authorize: coachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/me/preferences", Handle: handle(s.preferences)},
		{Method: "PATCH", Pattern: "/api/me/preferences", Handle: handle(s.editPreferences), Body: endpoint.MergePatch},
		{Method: "GET", Pattern: pushPath, Handle: handle(s.pushSubscription)},
		{Method: "POST", Pattern: pushPath, Handle: s.idempotent(handle(s.subscribePush), s.rebuildPush), Body: endpoint.JSON},
		{Method: "DELETE", Pattern: pushPath, Handle: handle(s.unsubscribePush), Urgent: true},
		{Method: "GET", Pattern: "/api/coach/profile", Handle: handle(s.profile), Authorize: coachOnly},
		{Method: "PATCH", Pattern: "/api/coach/profile", Handle: handle(s.editProfile), Authorize: coachOnly, Body: endpoint.MergePatch},
		{Method: "GET", Pattern: "/api/coach/dashboard", Handle: handle(s.dashboard), Authorize: coachOnly},
		s.exportRoute(),
		{Method: "GET", Pattern: "/api/notifications", Handle: handle(s.listNotifications), Query: endpoint.Paged("unread")},
		{Method: "POST", Pattern: "/api/notifications/read", Handle: handle(s.markRead), Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/notifications/stream", Handle: handle(s.stream), Produces: "text/event-stream", NoTimeout: true},
	}
}

func (s *Server) coachRoutes() []route {
	return []route{
		{Method: "GET", Pattern: "/api/subscription-tiers", Handle: handle(s.listTiers), Authorize: coachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/coach/subscription", Handle: handle(s.subscription), Authorize: coachOnly},
		{Method: "PUT", Pattern: "/api/coach/subscription", Handle: handle(s.chooseTier), Authorize: coachOnly, Body: endpoint.JSON},

		{Method: "GET", Pattern: "/api/coach/kyc", Handle: handle(s.kyc), Authorize: coachOnly},
		{Method: "POST", Pattern: "/api/coach/kyc", Handle: s.idempotent(handle(s.submitKYC), s.rebuildKYC), Authorize: coachOnly, Body: endpoint.JSON},
	}
}

func (s *Server) directoryRoutes() []route {
	return []route{
		{Method: "GET", Pattern: "/api/coach/visibility", Handle: handle(s.visibility), Authorize: coachOnly},
		{Method: "PUT", Pattern: "/api/coach/visibility", Handle: handle(s.setVisibility), Authorize: coachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/coaches", Handle: handle(s.listCoaches), Authenticate: anonymous, Query: endpoint.Paged("sport", "q")},
		{Method: "GET", Pattern: "/api/coaches/{coach_id}", Handle: handleID("coach_id", s.getCoach), Authenticate: anonymous},
	}
}

func (s *Server) documentRoutes() []route {
	const list, one = "/api/coach/documents", "/api/coach/documents/{document_id}"
	return []route{
		{Method: "GET", Pattern: list, Handle: handle(s.listDocuments), Authorize: coachOnly, Query: endpoint.Paged("kind")},
		{Method: "POST", Pattern: list, Handle: handle(s.addDocument), Authorize: coachOnly, Body: endpoint.Multipart, MaxUpload: upload.MaxBody, Acquire: s.acquireUpload},
		{Method: "GET", Pattern: one, Handle: handleID("document_id", s.getDocument), Authorize: coachOnly},
		{Method: "PATCH", Pattern: one, Handle: handleID("document_id", s.editDocument), Authorize: coachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: one, Handle: handleID("document_id", s.deleteDocument), Authorize: coachOnly},
		{Method: "GET", Pattern: one + "/content", Handle: handle(s.documentContent), Authenticate: s.authenticateOptional, Produces: endpoint.AnyMedia, Timeout: httpx.FileTimeout, Query: []string{"size"}},
		{Method: "PUT", Pattern: one + "/content", Handle: handle(s.replaceContent), Authorize: coachOnly, Body: endpoint.Multipart, MaxUpload: upload.MaxBody, Acquire: s.acquireUpload},
	}
}

// approvalRoutes are players, approvals and availability.
func (s *Server) approvalRoutes() []route {
	// Calls that send a request need a complete profile (spec section 5, rule 7).
	completeCoach := []authorize{roles(actor.Coach), s.profileComplete}
	return []route{
		{Method: "POST", Pattern: "/api/players/add", Handle: s.idempotent(handle(s.addPlayer), s.rebuildPlayer), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/players/import", Handle: handle(s.importPlayers), Authorize: completeCoach, Body: endpoint.CSV, MaxUpload: roster.MaxBytes, Acquire: s.acquireImport},
		{Method: "GET", Pattern: "/api/players/imports", Handle: handle(s.listImports), Authorize: coachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/players/imports/{import_id}", Handle: handleID("import_id", s.getImport), Authorize: coachOnly},
		{Method: "GET", Pattern: "/api/players/imports/{import_id}/rows", Handle: handleID("import_id", s.listImportRows), Authorize: coachOnly, Query: endpoint.Paged("state")},
		{Method: "POST", Pattern: "/api/players/imports/{import_id}/run", Handle: handleID("import_id", s.runImport), Authorize: completeCoach, Timeout: roster.StepTimeout},
		{Method: "GET", Pattern: "/api/players", Handle: handle(s.listPlayers), Authorize: coachOnly, Alternative: mediaCSV, Query: endpoint.Paged("guardian_status", "student_status", "guardian_state", "student_state", "batch_id", "q")},
		{Method: "GET", Pattern: "/api/players/{player_id}", Handle: handleID("player_id", s.getPlayer)},
		{Method: "PATCH", Pattern: "/api/players/{player_id}", Handle: handleID("player_id", s.updatePlayer), Authorize: coachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: "/api/players/{player_id}", Handle: handleID("player_id", s.deletePlayer), Authorize: coachOnly},
		{Method: "GET", Pattern: "/api/players/approval-status/{playerId}", Handle: handleID("playerId", s.approvalStatus)},
		{Method: "GET", Pattern: "/api/me/players", Handle: handle(s.listMyPlayers), Authorize: partyOnly, Query: endpoint.Paged()},
		{Method: "POST", Pattern: "/api/approval/send-guardian-request", Handle: s.idempotent(handle(s.sendGuardianRequest), s.rebuildRequest), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/approval/send-student-request", Handle: s.idempotent(handle(s.sendStudentRequest), s.rebuildRequest), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/approval/send-reminder", Handle: s.idempotent(handle(s.sendReminder), s.rebuildReminder), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "PUT", Pattern: "/api/approval/guardian-response", Handle: handle(s.respond), Authorize: guardianOnly, Body: endpoint.JSON, Urgent: true},
		{Method: "PUT", Pattern: "/api/approval/student-response", Handle: handle(s.respond), Authorize: studentOnly, Body: endpoint.JSON, Urgent: true},
		{Method: "GET", Pattern: "/api/approval/requests/{request_id}", Handle: handle(s.getRequest)},
		{Method: "POST", Pattern: "/api/approval/requests/{request_id}/cancel", Handle: s.idempotent(handleID("request_id", s.cancelRequest), s.rebuildRequest), Authorize: coachOnly, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: "/api/approval/requests/{request_id}/follow-up", Handle: s.idempotent(handleID("request_id", s.followUp), s.rebuildRequest), Authorize: coachOnly, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: "/api/approval/requests/{request_id}/dispute", Handle: s.idempotent(handleID("request_id", s.disputeRequest), s.rebuildRequest), Authorize: partyOnly, Body: endpoint.OptionalJSON, Urgent: true},
		{Method: "DELETE", Pattern: "/api/approval/requests/{request_id}/dispute", Handle: handleID("request_id", s.liftDispute), Authorize: partyOnly, Urgent: true},
		{Method: "GET", Pattern: "/api/coach/pending-approvals", Handle: handle(s.listPending), Authorize: coachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/services/availability/{playerId}", Handle: handleID("playerId", s.availability)},
	}
}

// profileComplete returns profile_incomplete until the coach's profile is complete.
func (s *Server) profileComplete(ctx context.Context, caller Caller) error {
	return s.Coaches.Complete(ctx, caller.Actor)
}

// serviceRoutes are the calls of SMS, WhatsApp and mail providers, the key set, health and
// documentation.
func (s *Server) serviceRoutes() []route {
	routes := []route{
		// Without limits: all receipts come from one address, and some providers do not repeat a
		// call. The secret is checked before anything else.
		{Method: "GET", Pattern: "/receipts/{message}/{secret}", Handle: handle(s.receiveReceipt), Authenticate: s.authenticateReceipt, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/receipts/{message}/{secret}", Handle: handle(s.receiveReceipt), Authenticate: s.authenticateReceipt, Body: endpoint.AnyBody, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "GET", Pattern: "/receipts/{provider}", Handle: handle(s.verifyReceipts), Authenticate: anonymous, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/receipts/{provider}", Handle: handle(s.receiveReceipts), Authenticate: s.authenticateReceipts, Body: endpoint.AnyBody, MaxBody: maxReceipts, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/replies/{provider}", Handle: handle(s.receiveReply), Authenticate: s.authenticateReply, Body: endpoint.AnyBody, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "GET", Pattern: "/replies/{provider}/{secret}", Handle: handle(s.receiveReply), Authenticate: s.authenticateReply, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/bounces/{secret}", Handle: handle(s.receiveBounce), Authenticate: s.authenticateBounce, Body: endpoint.AnyBody, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "GET", Pattern: "/.well-known/jwks.json", Handle: handle(s.jwks), Authenticate: anonymous, Produces: endpoint.AnyMedia, Urgent: true},
		{Method: "GET", Pattern: "/.well-known/oauth-authorization-server", Handle: handle(s.metadata), Authenticate: anonymous, Produces: endpoint.AnyMedia, Urgent: true},
		{Method: "GET", Pattern: "/healthz", Handle: handle(s.healthz), Authenticate: anonymous, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "GET", Pattern: "/readyz", Handle: handle(s.readyz), Authenticate: anonymous, Produces: endpoint.AnyMedia, NoLimits: true},
	}
	pages := map[string]http.Handler{}
	if s.Documentation != nil {
		pages["/openapi.json"] = http.HandlerFunc(s.Documentation.OpenAPIJSON)
		pages["/docs"] = http.HandlerFunc(s.Documentation.Page)
		pages["/problems/{$}"] = http.HandlerFunc(s.Documentation.Problems)
		pages["/problems/{code}"] = http.HandlerFunc(s.Documentation.Problem)
	}
	for pattern, page := range pages {
		routes = append(routes, pageRoute(pattern, page))
	}
	return routes
}

// pageRoute serves a page that anyone may read.
func pageRoute(pattern string, page http.Handler) route {
	return route{Method: "GET", Pattern: pattern, Authenticate: anonymous, Produces: endpoint.AnyMedia, Handle: handle(func(context.Context, Request[noBody]) (Response, error) {
		return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
			page.ServeHTTP(w, r)
			return nil
		}}, nil
	})}
}
