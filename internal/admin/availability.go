package admin

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// serviceAccess is the ServiceAccess of openapi.yaml.
type serviceAccess struct {
	Name     string `json:"service"`
	Guardian bool   `json:"guardian"`
	Student  bool   `json:"student"`
	Reason   string `json:"reason,omitempty"`
}

// availabilityResponse is the Availability of openapi.yaml.
type availabilityResponse struct {
	PlayerID           string          `json:"player_id"`
	Sequence           int64           `json:"sequence"`
	ChatEnabled        bool            `json:"chat_enabled"`
	ChatAvailable      bool            `json:"chat_available"`
	SMSEnabled         bool            `json:"sms_enabled"`
	GuardianAppEnabled bool            `json:"guardian_app_enabled"`
	StudentAppEnabled  bool            `json:"student_app_enabled"`
	Services           []serviceAccess `json:"services"`
}

func newAvailabilityResponse(a operator.Availability) availabilityResponse {
	services := make([]serviceAccess, len(a.Services))
	for i, access := range a.Services {
		services[i] = serviceAccess(access)
	}
	return availabilityResponse{
		PlayerID: a.PlayerID, Sequence: a.Sequence, ChatEnabled: true, ChatAvailable: a.HasChat, SMSEnabled: true,
		GuardianAppEnabled: a.GuardianApp, StudentAppEnabled: a.StudentApp, Services: services,
	}
}

// availability serves GET /api/services/availability/{player_id}.
func (s *Server) availability(ctx context.Context, _ Request[NoBody], id string) (Response, error) {
	found, err := s.Availabilities.OfPlayers(ctx, []string{id})
	if err != nil {
		return Response{}, err
	}
	if len(found) == 0 {
		return Response{}, fault.Missing()
	}
	return endpoint.OK(newAvailabilityResponse(found[0])), nil
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

// queryAvailability serves POST /api/services/availability/query: players by id, or those
// that name a number, which needs the scope availability_by_number.
func (s *Server) queryAvailability(ctx context.Context, r Request[availabilityQuery]) (Response, error) {
	in, f := r.Body, r.Faults
	byNumber := in.Number != nil || in.Role != nil
	required := operator.AvailabilityScope
	if byNumber {
		required = operator.AvailabilityByNumber
	}
	if err := s.requireScope(ctx, r.Caller, required); err != nil {
		return Response{}, err
	}
	// Faulty player_ids are nil.
	if byNumber && in.PlayerIDs != nil || !byNumber && in.PlayerIDs == nil && f.Err() == nil {
		f.Add("", "invalid_value", "Send either player_ids, or mobile_number and role.")
	}
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	if byNumber {
		return s.availabilityOfNumber(ctx, r)
	}
	return newAvailabilityList(s.Availabilities.OfPlayers(ctx, in.PlayerIDs))
}

func (s *Server) availabilityOfNumber(ctx context.Context, r Request[availabilityQuery]) (Response, error) {
	in, f := r.Body, r.Faults
	var number phone.Number
	var role actor.Role
	if in.Number == nil {
		f.Add("/mobile_number", "required", "Send the mobile number.")
	} else if n, err := s.Phones.Parse(*in.Number); err != nil {
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
		return Response{}, err
	}
	return newAvailabilityList(s.Availabilities.OfNumber(ctx, r.Caller.Operator(), number, role))
}

func newAvailabilityList(found []operator.Availability, err error) (Response, error) {
	if err != nil {
		return Response{}, err
	}
	list := availabilityList{Items: []availabilityResponse{}}
	for _, a := range found {
		list.Items = append(list.Items, newAvailabilityResponse(a))
	}
	return endpoint.OK(list), nil
}
