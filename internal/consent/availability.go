package consent

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

// availabilityResponse is the Availability of openapi.yaml.
type availabilityResponse struct {
	PlayerID           string `json:"player_id"`
	ChatEnabled        bool   `json:"chat_enabled"`
	ChatAvailable      bool   `json:"chat_available"`
	SMSEnabled         bool   `json:"sms_enabled"`
	GuardianAppEnabled bool   `json:"guardian_app_enabled"`
	StudentAppEnabled  bool   `json:"student_app_enabled"`
	// Guardians are absent for parties.
	Guardians *[]approval.GuardianApp  `json:"guardians,omitempty"`
	Services  []approval.ServiceAccess `json:"services"`
}

func newAvailabilityResponse(a approval.Availability) availabilityResponse {
	return availabilityResponse{
		PlayerID: a.PlayerID, ChatEnabled: true, ChatAvailable: a.HasChat, SMSEnabled: true,
		GuardianAppEnabled: a.GuardianApp, StudentAppEnabled: a.StudentApp, Services: a.Services(),
	}
}

// availability serves GET /api/services/availability/{playerId}.
func (h handlers) availability(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	a, err := h.Availability(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	out := newAvailabilityResponse(a)
	if r.Caller.Role == actor.Coach {
		guardians := a.GuardianApps()
		out.Guardians = &guardians
	}
	return endpoint.OK(out), nil
}
