package feed

import (
	"cmp"
	"context"
	"slices"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/player"
)

// availabilityResponse is the Availability of openapi.yaml.
type availabilityResponse struct {
	PlayerID           string                   `json:"player_id"`
	Sequence           int64                    `json:"sequence"`
	ChatEnabled        bool                     `json:"chat_enabled"`
	ChatAvailable      bool                     `json:"chat_available"`
	SMSEnabled         bool                     `json:"sms_enabled"`
	GuardianAppEnabled bool                     `json:"guardian_app_enabled"`
	StudentAppEnabled  bool                     `json:"student_app_enabled"`
	Guardians          []approval.GuardianApp   `json:"guardians"`
	Services           []approval.ServiceAccess `json:"services"`
}

func newAvailabilityResponse(a approval.Availability) availabilityResponse {
	return availabilityResponse{
		PlayerID: a.PlayerID, Sequence: a.Sequence, ChatEnabled: true, ChatAvailable: a.HasChat, SMSEnabled: true,
		GuardianAppEnabled: a.GuardianApp, StudentAppEnabled: a.StudentApp, Guardians: a.GuardianApps(), Services: a.Services(),
	}
}

// get serves GET /api/services/availability/{player_id}.
func (h handlers) get(ctx context.Context, _ admin.Request[admin.NoBody], id string) (admin.Response, error) {
	found, err := player.ConsentStatuses(ctx, h.DB, []string{id})
	if err != nil {
		return admin.Response{}, err
	}
	if len(found) == 0 {
		return admin.Response{}, fault.Missing()
	}
	return endpoint.OK(newAvailabilityResponse(found[0].Availability(h.Rules, h.Now()))), nil
}

// availabilityQuery has either PlayerIDs, or Number and Role.
type availabilityQuery struct {
	PlayerIDs []string `json:"player_ids" rule:"min=1,max=200,id"`
	Number    *string  `json:"mobile_number" rule:"min=1,max=64"`
	Role      *string  `json:"role" rule:"oneof=guardian|student"`
}

type availabilityList struct {
	Items []availabilityResponse `json:"items"`
}

// query serves POST /api/services/availability/query: players by id, or those
// that name a number, which needs the scope availability_by_number.
func (h handlers) query(ctx context.Context, r admin.Request[availabilityQuery]) (admin.Response, error) {
	in, f := r.Body, r.Faults
	byNumber := in.Number != nil || in.Role != nil
	required := operator.AvailabilityScope
	if byNumber {
		required = operator.AvailabilityByNumber
	}
	if err := h.api.RequireScope(ctx, r.Caller, required); err != nil {
		return admin.Response{}, err
	}
	// Faulty player_ids are nil.
	if byNumber && in.PlayerIDs != nil || !byNumber && in.PlayerIDs == nil && f.Err() == nil {
		f.Add("", "invalid_value", "Send either player_ids, or mobile_number and role.")
	}
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	if byNumber {
		return h.ofNumber(ctx, r)
	}
	found, err := player.ConsentStatuses(ctx, h.DB, in.PlayerIDs)
	slices.SortFunc(found, func(a, b approval.ConsentStatus) int {
		return cmp.Compare(slices.Index(in.PlayerIDs, a.PlayerID), slices.Index(in.PlayerIDs, b.PlayerID))
	})
	return h.list(found, err)
}

func (h handlers) ofNumber(ctx context.Context, r admin.Request[availabilityQuery]) (admin.Response, error) {
	in, f := r.Body, r.Faults
	var number phone.Number
	var role actor.Role
	if in.Number == nil {
		f.Add("/mobile_number", "required", "Send the mobile number.")
	} else if n, err := h.api.Phones.Parse(*in.Number); err != nil {
		f.Add("/mobile_number", "invalid_number", "This is not a complete mobile number.")
	} else {
		number = n
	}
	if in.Role == nil {
		f.Add("/role", "required", "Send the role, guardian or student.")
	} else {
		role = actor.Role(*in.Role)
	}
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	return h.list(player.ConsentStatusesOfNumber(ctx, h.DB, r.Caller.Operator(), number, role))
}

// list returns the availability of players with these consents.
func (h handlers) list(found []approval.ConsentStatus, err error) (admin.Response, error) {
	if err != nil {
		return admin.Response{}, err
	}
	list, now := availabilityList{Items: []availabilityResponse{}}, h.Now()
	for _, status := range found {
		list.Items = append(list.Items, newAvailabilityResponse(status.Availability(h.Rules, now)))
	}
	return endpoint.OK(list), nil
}
