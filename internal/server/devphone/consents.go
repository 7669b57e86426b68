package devphone

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

type consentRequest struct {
	PlayerID string `json:"player_id" rule:"required,id"`
	Party    string `json:"party" rule:"required,oneof=guardian|student"`
	// GuardianID is empty for the first guardian.
	GuardianID string `json:"guardian_id" rule:"id"`
	State      string `json:"state" rule:"required,oneof=pending|approved|rejected|revoked"`
}

type consentResponse struct {
	PlayerID      string         `json:"player_id"`
	GuardianState approval.State `json:"guardian_state"`
	StudentState  approval.State `json:"student_state"`
}

// force serves POST /dev/consents.
func (h handlers) force(ctx context.Context, r api.Request[consentRequest]) (api.Response, error) {
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	p, err := h.Force(ctx, r.Body.PlayerID, actor.Role(r.Body.Party), r.Body.GuardianID, approval.State(r.Body.State))
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(consentResponse{p.ID, p.Party(actor.Guardian).Consent.State, p.Party(actor.Student).Consent.State}), nil
}
