package consent

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/web"
)

// endGuardianViewRequest is the EndGuardianViewRequest of openapi.yaml.
type endGuardianViewRequest struct {
	GuardianID *string `json:"guardian_id" rule:"id"`
}

// endGuardianView serves POST /api/me/players/{player_id}/end-guardian-view.
func (h handlers) endGuardianView(ctx context.Context, r api.Request[endGuardianViewRequest], id string) (api.Response, error) {
	if err := h.api.CheckFaults(ctx, r.Caller.Actor, id, r.Faults); err != nil {
		return api.Response{}, err
	}
	p, err := h.EndGuardianView(ctx, r.Caller.Actor, id, text(r.Body.GuardianID))
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.view(r.Caller).player(p)), nil
}

// endView serves POST /me/student/players/{player_id}/end-guardian-view. The same form sent twice
// changes nothing more.
func (p pages) endView(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("player_id")
	if _, err := p.EndGuardianView(ctx, by, id, web.IDOrNone(r.Value("guardian"))); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.PlayerPath(by.Role, id) + "?done=view_ended"), nil
}
