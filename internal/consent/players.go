package consent

import (
	"context"
	"io"
	"net/url"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// addPlayer serves POST /api/players/add.
func (h handlers) addPlayer(ctx context.Context, r api.Request[addPlayerRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	student, guardians := in.read(h.api.Reader(&f))
	for i, id := range in.BatchIDs {
		if !endpoint.IsID(id) {
			f.Add(wire.PointTo("/batch_ids", i), "invalid_id", "This is not the id of a batch.")
		}
	}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	p, err := h.AddWith(ctx, r.Caller.Actor, student, guardians, in.BatchIDs...)
	if err != nil {
		if in.Guardians != nil {
			err = movedFaults(err, "/guardian/", "/guardians/0/")
		}
		return api.Response{}, err
	}
	return endpoint.Created("/api/players/"+p.ID, h.view(r.Caller).player(p)).WithSubject(p.ID), nil
}

// listPlayers serves GET /api/players.
func (h handlers) listPlayers(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	query := r.Query
	filter := playerFilter(query, &f)
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	if api.PrefersCSV(r.Header) {
		return h.exportPlayers(r.Caller.Actor, filter), nil
	}
	players, err := h.Players(ctx, r.Caller.Actor, filter, approval.Page{Limit: page.ReadLimit(), After: after(page.After)})
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, players, h.view(r.Caller).player, byPlayerID), nil
}

// exportPlayers sends all players that match the filter as CSV.
func (h handlers) exportPlayers(by actor.Actor, filter approval.Filter) api.Response {
	return api.FileResponse("players.csv", csvfile.MediaType, func(ctx context.Context, out io.Writer) error {
		return h.Export(ctx, by, filter, out)
	})
}

// byPlayerID orders players from the newest to the oldest: ids are UUIDv7.
func byPlayerID(p *approval.Player) api.Keyset { return api.Keyset{ID: p.ID} }

// playerFilter reads the filter of the list of players.
func playerFilter(query url.Values, f *wire.Faults) approval.Filter {
	status := wire.ParseRules("oneof=pending|approved|rejected")
	state := wire.ParseRules("oneof=pending|approved|rejected|revoked")
	return approval.Filter{
		GuardianStatus: api.QueryText(query, "guardian_status", f, status),
		StudentStatus:  api.QueryText(query, "student_status", f, status),
		GuardianState:  approval.State(api.QueryText(query, "guardian_state", f, state)),
		StudentState:   approval.State(api.QueryText(query, "student_state", f, state)),
		BatchID:        api.QueryText(query, "batch_id", f, wire.ParseRules("id")),
		Search:         api.QueryText(query, "q", f, wire.ParseRules("max=100")), // "" finds all players
	}
}

// getPlayer serves GET /api/players/{player_id}.
func (h handlers) getPlayer(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	p, err := h.Player(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.view(r.Caller).player(p)), nil
}

// updatePlayer serves PATCH /api/players/{player_id}.
func (h handlers) updatePlayer(ctx context.Context, r api.Request[playerPatchBody], id string) (api.Response, error) {
	in, f := r.Body, r.Faults
	patch := in.read(h.api.Reader(&f))
	if err := h.api.CheckFaults(ctx, r.Caller.Actor, id, f); err != nil {
		return api.Response{}, err
	}
	if patch.MayOpenRequest() {
		if _, err := h.Player(ctx, r.Caller.Actor, id); err != nil {
			return api.Response{}, err
		}
		if err := h.Coaches.Complete(ctx, r.Caller.Actor); err != nil {
			return api.Response{}, err
		}
	}
	p, err := h.Edit(ctx, r.Caller.Actor, id, patch)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.view(r.Caller).player(p)), nil
}

// deletePlayer serves DELETE /api/players/{player_id}.
func (h handlers) deletePlayer(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	if err := h.Remove(ctx, r.Caller.Actor, id); err != nil {
		return api.Response{}, err
	}
	return endpoint.NoContent(), nil
}

// listMyPlayers serves GET /api/me/players.
func (h handlers) listMyPlayers(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	links, err := h.Links(ctx, r.Caller.Actor, false, approval.Page{Limit: page.ReadLimit(), After: after(page.After)})
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, links, h.view(r.Caller).myPlayer, byPlayerID), nil
}
