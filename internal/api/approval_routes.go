package api

import "github.com/touchline/touchline/internal/actor"

// approvalRoutes are players, approvals and availability.
func (s *Server) approvalRoutes() []route {
	// What asks somebody waits for the coach's profile (spec section 5, rule 7).
	profile := []gate{s.coaches.Complete}
	return []route{
		{method: "POST", pattern: "/api/players/add", handle: s.addPlayer, roles: coachOnly, gates: profile, body: bodyJSON, once: true},
		{method: "GET", pattern: "/api/players", handle: s.listPlayers, roles: coachOnly},
		{method: "GET", pattern: "/api/players/{player_id}", handle: s.getPlayer},
		{method: "PATCH", pattern: "/api/players/{player_id}", handle: s.updatePlayer, roles: coachOnly, body: bodyPatch},
		{method: "DELETE", pattern: "/api/players/{player_id}", handle: s.deletePlayer, roles: coachOnly},
		{method: "GET", pattern: "/api/players/approval-status/{playerId}", handle: s.approvalStatus},
		{method: "GET", pattern: "/api/me/players", handle: s.listMyPlayers, roles: partiesOnly},

		{method: "POST", pattern: "/api/approval/send-guardian-request", handle: s.sendGuardianRequest, roles: coachOnly, gates: profile, body: bodyJSON, once: true},
		{method: "POST", pattern: "/api/approval/send-student-request", handle: s.sendStudentRequest, roles: coachOnly, gates: profile, body: bodyJSON, once: true},
		{method: "POST", pattern: "/api/approval/send-reminder", handle: s.sendReminder, roles: coachOnly, gates: profile, body: bodyJSON, once: true},
		{method: "PUT", pattern: "/api/approval/guardian-response", handle: s.respond, roles: []actor.Role{actor.Guardian}, body: bodyJSON},
		{method: "PUT", pattern: "/api/approval/student-response", handle: s.respond, roles: []actor.Role{actor.Student}, body: bodyJSON},
		{method: "GET", pattern: "/api/approval/requests/{request_id}", handle: s.getRequest},
		{method: "POST", pattern: "/api/approval/requests/{request_id}/cancel", handle: s.cancelRequest, roles: coachOnly, body: bodyMaybe, once: true},
		{method: "POST", pattern: "/api/approval/requests/{request_id}/dispute", handle: s.disputeRequest, roles: partiesOnly, body: bodyMaybe, once: true},
		{method: "DELETE", pattern: "/api/approval/requests/{request_id}/dispute", handle: s.liftDispute, roles: partiesOnly},

		{method: "GET", pattern: "/api/coach/pending-approvals", handle: s.listPending, roles: coachOnly},
		{method: "GET", pattern: "/api/services/availability/{playerId}", handle: s.availability},
	}
}
