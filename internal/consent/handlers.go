// Package consent serves consent: players, requests, decisions and availability, as JSON and pages.
package consent

import (
	"context"
	"io"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/signin"
	"github.com/touchline/touchline/internal/web"
)

// Service serves players, requests, decisions and availability.
type Service struct {
	*player.Service
	Coaches       *coach.Service
	Dashboards    *coach.Dashboards
	Subscriptions *coach.Subscriptions
	Tray          *notice.Tray
	SignIn        signin.Service
	// Export writes the players of a coach that match a filter as CSV. It returns a tier_limit before it writes anything.
	Export func(ctx context.Context, by actor.Actor, f approval.Filter, out io.Writer) error
	// Providers returns the ways in which a guardian proves to be an adult.
	Providers func() []approval.ProofChoice
	// ChildPage is the page of one child for a guardian or student.
	ChildPage func(ctx context.Context, site *web.Pages, r *web.Request, by actor.Actor) (web.Response, error)
	// Strip returns the figures at the top of the page of a player, for its coach.
	Strip func(ctx context.Context, by actor.Actor, playerID string) (Strip, error)
}

// handlers serves consent as JSON.
type handlers struct {
	Service
	api *api.Server
}

// Operations returns the operations of players, approvals and availability.
func (s Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	completeCoach := h.api.CompleteCoach()
	return []api.Route{
		{Method: "POST", Pattern: "/api/players/add", Handle: h.api.Idempotent(endpoint.Handle(h.addPlayer), h.rebuildPlayer), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/players", Handle: endpoint.Handle(h.listPlayers), Authorize: api.CoachOnly, Alternative: api.MediaCSV, Query: endpoint.Paged("guardian_status", "student_status", "guardian_state", "student_state", "batch_id", "q")},
		{Method: "GET", Pattern: "/api/players/{player_id}", Handle: endpoint.HandleID("player_id", h.getPlayer)},
		{Method: "PATCH", Pattern: "/api/players/{player_id}", Handle: endpoint.HandleID("player_id", h.updatePlayer), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "POST", Pattern: "/api/players/{player_id}/guardians", Handle: h.api.Idempotent(endpoint.HandleID("player_id", h.addGuardian), h.rebuildGuardian), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "PATCH", Pattern: "/api/players/{player_id}/guardians/{guardian_id}", Handle: endpoint.HandleID("player_id", h.updateGuardian), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: "/api/players/{player_id}/guardians/{guardian_id}", Handle: endpoint.HandleID("player_id", h.removeGuardian), Authorize: api.CoachOnly, Query: []string{"next"}},
		{Method: "DELETE", Pattern: "/api/players/{player_id}", Handle: endpoint.HandleID("player_id", h.deletePlayer), Authorize: api.CoachOnly},
		{Method: "GET", Pattern: "/api/players/{player_id}/medical", Handle: endpoint.HandleID("player_id", h.getMedical)},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/access-log", Handle: endpoint.HandleID("player_id", h.accessLog), Authorize: api.PartyOnly, Query: endpoint.Paged()},
		{Method: "POST", Pattern: "/api/me/players/{player_id}/end-guardian-view", Handle: endpoint.HandleID("player_id", h.endGuardianView), Authorize: api.StudentOnly, Body: endpoint.OptionalJSON},
		{Method: "GET", Pattern: "/api/players/approval-status/{playerId}", Handle: endpoint.HandleID("playerId", h.approvalStatus)},
		{Method: "GET", Pattern: "/api/me/players", Handle: endpoint.Handle(h.listMyPlayers), Authorize: api.PartyOnly, Query: endpoint.Paged()},
		{Method: "POST", Pattern: "/api/approval/send-guardian-request", Handle: h.api.Idempotent(endpoint.Handle(h.sendGuardianRequest), h.rebuildRequest), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/approval/send-student-request", Handle: h.api.Idempotent(endpoint.Handle(h.sendStudentRequest), h.rebuildRequest), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/approval/send-reminder", Handle: h.api.Idempotent(endpoint.Handle(h.sendReminder), h.rebuildReminder), Authorize: completeCoach, Body: endpoint.JSON},
		{Method: "PUT", Pattern: "/api/approval/guardian-response", Handle: endpoint.Handle(h.respond), Authorize: api.GuardianOnly, Body: endpoint.JSON, Urgent: true},
		{Method: "PUT", Pattern: "/api/approval/student-response", Handle: endpoint.Handle(h.respond), Authorize: api.StudentOnly, Body: endpoint.JSON, Urgent: true},
		{Method: "GET", Pattern: "/api/approval/requests/{request_id}", Handle: endpoint.Handle(h.getRequest)},
		{Method: "POST", Pattern: "/api/approval/requests/{request_id}/cancel", Handle: h.api.Idempotent(endpoint.HandleID("request_id", h.cancelRequest), h.rebuildRequest), Authorize: api.CoachOnly, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: "/api/approval/requests/{request_id}/follow-up", Handle: h.api.Idempotent(endpoint.HandleID("request_id", h.followUp), h.rebuildRequest), Authorize: api.CoachOnly, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: "/api/approval/requests/{request_id}/call", Handle: h.api.Idempotent(endpoint.HandleID("request_id", h.callParty), h.rebuildRequest), Authorize: completeCoach, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: "/api/approval/requests/{request_id}/dispute", Handle: h.api.Idempotent(endpoint.HandleID("request_id", h.disputeRequest), h.rebuildRequest), Authorize: api.PartyOnly, Body: endpoint.OptionalJSON, Urgent: true},
		{Method: "DELETE", Pattern: "/api/approval/requests/{request_id}/dispute", Handle: endpoint.HandleID("request_id", h.liftDispute), Authorize: api.PartyOnly, Urgent: true},
		{Method: "GET", Pattern: "/api/coach/pending-approvals", Handle: endpoint.Handle(h.listPending), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/services/availability/{playerId}", Handle: endpoint.HandleID("playerId", h.availability)},
	}
}

// view builds the responses about players and requests for one caller at one time. The
// caller decides which fields they have.
type view struct {
	by    actor.Actor
	rules approval.Rules
	now   time.Time
}

func (h handlers) view(caller api.Caller) view { return view{caller.Actor, h.Rules, h.Now()} }

// keysetOf returns the key of an item in a list.
func keysetOf(k approval.Keyset) api.Keyset {
	out := api.Keyset{ID: k.ID, Party: k.Party, GuardianID: k.GuardianID}
	if !k.At.IsZero() {
		out.At = k.At.UnixMicro()
	}
	return out
}

// after returns the key after which a page begins.
func after(k api.Keyset) approval.Keyset {
	out := approval.Keyset{ID: k.ID, Party: k.Party, GuardianID: k.GuardianID}
	if k.At != 0 {
		out.At = time.UnixMicro(k.At).UTC()
	}
	return out
}
