package consent

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// medicalResponse is the Medical of openapi.yaml.
type medicalResponse struct {
	PlayerID string  `json:"player_id"`
	Medical  *string `json:"medical_information"`
}

// getMedical serves GET /api/players/{player_id}/medical.
func (h handlers) getMedical(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	p, err := h.Medical(ctx, r.Caller.Actor, id, approval.ReadToShow)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(medicalResponse{p.ID, wire.OrNull(p.Student.Medical)}), nil
}

// readingResponse is the MedicalReading of openapi.yaml.
type readingResponse struct {
	ID         string                  `json:"id"`
	ReadAt     string                  `json:"read_at"`
	Role       actor.Role              `json:"reader_role"`
	ReaderName *string                 `json:"reader_name"`
	Purpose    approval.ReadingPurpose `json:"purpose"`
}

// accessLog serves GET /api/me/players/{player_id}/access-log.
func (h handlers) accessLog(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	if err := h.api.CheckFaults(ctx, r.Caller.Actor, id, f); err != nil {
		return api.Response{}, err
	}
	readings, err := h.MedicalReadings(ctx, r.Caller.Actor, id, approval.Page{Limit: page.ReadLimit(), After: after(page.After)})
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, readings, func(e approval.Reading) readingResponse {
		return readingResponse{e.ID, wire.Timestamp(e.At), e.Role, wire.OrNull(e.ReaderName), e.Purpose}
	}, func(e approval.Reading) api.Keyset { return api.Keyset{ID: e.ID} }), nil
}

// medicalPage serves GET /coach/players/{player_id}/medical, which shows no text yet: a page
// that is only opened again, or ahead, is no reading.
func (p pages) medicalPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.showMedical(ctx, r, by, player)
}

// readMedical serves POST …/medical, which shows the text and records the reading.
func (p pages) readMedical(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.Medical(ctx, by, r.PathValue("player_id"), approval.ReadToShow)
	if err != nil {
		return web.Response{}, err
	}
	return p.showMedical(ctx, r, by, player)
}

// readingsPerPage is how many readings a page of a family shows.
const readingsPerPage = 50

// familyMedicalPage serves GET /me/{role}/players/{player_id}/medical: who read the notes.
func (p pages) familyMedicalPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.showReadings(ctx, r, by, player)
}

// readOwnMedical serves POST …/medical, which also shows the notes.
func (p pages) readOwnMedical(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("player_id")
	player, err := p.Medical(ctx, by, id, approval.ReadToShow)
	if err != nil {
		return web.Response{}, err
	}
	return p.showReadings(ctx, r, by, player)
}

func (p pages) showReadings(ctx context.Context, r *web.Request, by actor.Actor, player *approval.Player) (web.Response, error) {
	readings, err := p.MedicalReadings(ctx, by, player.ID, approval.Page{Limit: readingsPerPage + 1, After: approval.Keyset{ID: web.IDOrNone(r.URL.Query().Get("after"))}})
	if err != nil {
		return web.Response{}, err
	}
	next := ""
	if len(readings) > readingsPerPage {
		readings = readings[:readingsPerPage]
		next = readings[readingsPerPage-1].ID
	}
	v := p.site.SignedInView(r, "medical.title", by)
	v.Data = map[string]any{
		"Player": player, "Path": web.Home(by.Role) + "/players/" + player.ID, "Readings": readings, "Next": next,
		"MayRead": player.MayReadMedical(by, p.Now()) == nil,
	}
	return web.Page("medical_family", v), nil
}

func (p pages) showMedical(ctx context.Context, r *web.Request, by actor.Actor, player *approval.Player) (web.Response, error) {
	v := p.site.CoachView(r, "players", "medical.title", by)
	v.Data = player
	return web.Page("medical", v), nil
}
