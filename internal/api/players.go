package api

import (
	"context"
	"io"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
)

// addPlayer serves POST /api/players/add.
func (s *Server) addPlayer(ctx context.Context, r Request[input.Player]) (Response, error) {
	in, f := r.Body, r.Faults
	student, guardian := in.Read(s.reader(&f))
	for i, id := range in.BatchIDs {
		if !endpoint.IsID(id) {
			f.Add(wire.PointTo("/batch_ids", i), "invalid_id", "This is not the id of a batch.")
		}
	}
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	p, err := s.Approvals.Add(ctx, r.Caller.Actor, student, guardian, in.BatchIDs...)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/players/"+p.ID, s.view(r.Caller).player(p)).WithSubject(p.ID), nil
}

// listPlayers serves GET /api/players.
func (s *Server) listPlayers(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	query := r.Query
	filter := playerFilter(query, &f)
	page := s.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	if PrefersCSV(r.Header) {
		return s.exportPlayers(r.Caller.Actor, filter), nil
	}
	players, err := s.Approvals.Players(ctx, r.Caller.Actor, filter, approval.Page{Limit: page.ReadLimit(), After: page.After.approval()})
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, players, s.view(r.Caller).player, byPlayerID), nil
}

// exportPlayers sends all players that match the filter as CSV.
func (s *Server) exportPlayers(by actor.Actor, filter approval.Filter) Response {
	return fileResponse("players.csv", csvfile.MediaType, func(ctx context.Context, out io.Writer) error {
		return s.ExportPlayers(ctx, by, filter, out)
	})
}

// byPlayerID orders players from the newest to the oldest: ids are UUIDv7.
func byPlayerID(p *approval.Player) Keyset { return Keyset{ID: p.ID} }

// playerFilter reads the filter of the list of players.
func playerFilter(query url.Values, f *wire.Faults) approval.Filter {
	status := wire.ParseRules("oneof=pending|approved|rejected")
	state := wire.ParseRules("oneof=pending|approved|rejected|revoked")
	return approval.Filter{
		GuardianStatus: QueryText(query, "guardian_status", f, status),
		StudentStatus:  QueryText(query, "student_status", f, status),
		GuardianState:  approval.State(QueryText(query, "guardian_state", f, state)),
		StudentState:   approval.State(QueryText(query, "student_state", f, state)),
		BatchID:        QueryText(query, "batch_id", f, wire.ParseRules("id")),
		Search:         QueryText(query, "q", f, wire.ParseRules("max=100")), // "" finds all players
	}
}

// getPlayer serves GET /api/players/{player_id}.
func (s *Server) getPlayer(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	p, err := s.Approvals.Player(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(s.view(r.Caller).player(p)), nil
}

// updatePlayer serves PATCH /api/players/{player_id}.
func (s *Server) updatePlayer(ctx context.Context, r Request[input.PlayerPatch], id string) (Response, error) {
	in, f := r.Body, r.Faults
	patch := in.Read(s.reader(&f))
	if err := s.CheckFaults(ctx, r.Caller.Actor, id, f); err != nil {
		return Response{}, err
	}
	if patch.MayOpenRequest() {
		if err := s.checkPlayerVisible(ctx, r.Caller.Actor, id); err != nil {
			return Response{}, err
		}
		if err := s.Coaches.Complete(ctx, r.Caller.Actor); err != nil {
			return Response{}, err
		}
	}
	p, err := s.Approvals.Edit(ctx, r.Caller.Actor, id, patch)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(s.view(r.Caller).player(p)), nil
}

// deletePlayer serves DELETE /api/players/{player_id}.
func (s *Server) deletePlayer(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	if err := s.Approvals.Remove(ctx, r.Caller.Actor, id); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}

// listMyPlayers serves GET /api/me/players.
func (s *Server) listMyPlayers(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	page := s.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	links, err := s.Approvals.Links(ctx, r.Caller.Actor, false, approval.Page{Limit: page.ReadLimit(), After: page.After.approval()})
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, links, s.view(r.Caller).myPlayer, byPlayerID), nil
}
