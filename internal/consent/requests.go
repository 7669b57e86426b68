package consent

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// sendGuardianRequest serves POST /api/approval/send-guardian-request.
func (h handlers) sendGuardianRequest(ctx context.Context, r api.Request[sendGuardianRequest]) (api.Response, error) {
	in := r.Body
	return h.send(ctx, r.Caller, in.PlayerID, actor.Guardian, in.correction, in.Channels, r.Faults)
}

// sendStudentRequest serves POST /api/approval/send-student-request.
func (h handlers) sendStudentRequest(ctx context.Context, r api.Request[sendStudentRequest]) (api.Response, error) {
	in := r.Body
	return h.send(ctx, r.Caller, in.PlayerID, actor.Student, in.correction, in.Channels, r.Faults)
}

// send returns 201 for a new request and 200 for a repeated one.
func (h handlers) send(ctx context.Context, caller api.Caller, playerID string, party actor.Role, correct func(input.Reader) approval.Patch, names []string, f wire.Faults) (api.Response, error) {
	e := h.api.Reader(&f)
	correction, channels := correct(e), h.channels(names, &f)
	if err := h.checkBody(ctx, caller.Actor, playerID, f); err != nil {
		return api.Response{}, err
	}
	request, created, err := h.Send(ctx, caller.Actor, playerID, party, correction, channels)
	if err != nil {
		return api.Response{Subject: playerID}, err
	}
	body := h.view(caller).request(request)
	if created {
		return endpoint.Created("/api/approval/requests/"+request.ID, body).WithSubject(playerID), nil
	}
	return endpoint.OK(body).WithSubject(playerID), nil
}

// checkBody returns the faults of a body that names a player, as an error. A player_id
// that is not an identifier is not_found, but a missing one is a fault of the body.
func (h handlers) checkBody(ctx context.Context, by actor.Actor, playerID string, f wire.Faults) error {
	for _, field := range f {
		if field.Pointer == "" || field.Pointer == "/player_id" && field.Code != "invalid_characters" {
			return f.Err()
		}
	}
	if !endpoint.IsID(playerID) {
		return fault.Missing()
	}
	return h.api.CheckFaults(ctx, by, playerID, f)
}

// sendReminder serves POST /api/approval/send-reminder.
func (h handlers) sendReminder(ctx context.Context, r api.Request[reminderRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	if err := h.checkBody(ctx, r.Caller.Actor, in.PlayerID, f); err != nil {
		return api.Response{}, err
	}
	request, left, err := h.RemindParty(ctx, r.Caller.Actor, in.PlayerID, in.party(), text(in.GuardianID))
	if err != nil {
		return api.Response{Subject: in.PlayerID}, err
	}
	return endpoint.Accepted(reminderResponse{h.view(r.Caller).request(request), left}).WithSubject(in.PlayerID), nil
}

// getRequest serves GET /api/approval/requests/{request_id}. For a student,
// approval_pending comes before not_found.
func (h handlers) getRequest(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	id, _ := r.PathID("request_id") // "" is not found
	request, err := h.Request(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.view(r.Caller).request(request)), nil
}

// cancelRequest serves POST /api/approval/requests/{request_id}/cancel.
func (h handlers) cancelRequest(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	return h.changeRequest(ctx, r.Caller, id, r.Faults, h.Cancel)
}

// followUp serves POST /api/approval/requests/{request_id}/follow-up.
func (h handlers) followUp(ctx context.Context, r api.Request[followUpRequest], id string) (api.Response, error) {
	return h.changeRequest(ctx, r.Caller, id, r.Faults, func(ctx context.Context, by actor.Actor, id string) (*approval.Request, error) {
		if err := h.checkGuardian(ctx, by, id, r.Body.GuardianID); err != nil {
			return nil, err
		}
		return h.FollowUp(ctx, by, id, r.Body.Note.Value)
	})
}

// callParty serves POST /api/approval/requests/{request_id}/call.
func (h handlers) callParty(ctx context.Context, r api.Request[callRequest], id string) (api.Response, error) {
	return h.changeRequest(ctx, r.Caller, id, r.Faults, func(ctx context.Context, by actor.Actor, id string) (*approval.Request, error) {
		if err := h.checkGuardian(ctx, by, id, r.Body.GuardianID); err != nil {
			return nil, err
		}
		return h.Call(ctx, by, id)
	})
}

// checkGuardian returns not_found if a body names a guardian and the request asks another party.
func (h handlers) checkGuardian(ctx context.Context, by actor.Actor, requestID string, guardianID *string) error {
	if guardianID == nil {
		return nil
	}
	r, err := h.OwnRequest(ctx, by, requestID)
	if err == nil && r.GuardianID != *guardianID {
		err = fault.Missing()
	}
	return err
}

// disputeRequest serves POST /api/approval/requests/{request_id}/dispute.
func (h handlers) disputeRequest(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	return h.changeRequest(ctx, r.Caller, id, r.Faults, func(ctx context.Context, by actor.Actor, id string) (*approval.Request, error) {
		return h.Dispute(ctx, by, id, approval.Wording{})
	})
}

// changeRequest changes a request and returns it. A request that is not the caller's is
// not_found, whatever the faults of the body.
func (h handlers) changeRequest(ctx context.Context, caller api.Caller, id string, f wire.Faults, change func(context.Context, actor.Actor, string) (*approval.Request, error)) (api.Response, error) {
	if len(f) > 0 {
		if _, err := h.OwnRequest(ctx, caller.Actor, id); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, f.Err()
	}
	request, err := change(ctx, caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.view(caller).request(request)).WithSubject(request.PlayerID), nil
}

// liftDispute serves DELETE /api/approval/requests/{request_id}/dispute.
func (h handlers) liftDispute(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	if err := h.Lift(ctx, r.Caller.Actor, id); err != nil {
		return api.Response{}, err
	}
	return endpoint.NoContent(), nil
}

// requestResponse is the Request of openapi.yaml.
type requestResponse struct {
	RequestID       string                `json:"request_id"`
	PlayerID        string                `json:"player_id"`
	ApproverType    actor.Role            `json:"approver_type"`
	GuardianID      string                `json:"guardian_id,omitempty"`
	State           approval.RequestState `json:"state"`
	Version         int64                 `json:"version"`
	RequestedAt     string                `json:"requested_at"`
	LastSentAt      string                `json:"last_sent_at"`
	ResendAllowedAt *string               `json:"resend_allowed_at"`
	Via             *string               `json:"via"`
	// ShortCode is absent for parties, and null once the request is closed.
	ShortCode  **string           `json:"short_code,omitempty"`
	Deliveries []deliveryResponse `json:"deliveries"`
	// FollowedUpAt and FollowUpNote are absent before a follow-up, and for parties.
	FollowedUpAt *string `json:"followed_up_at,omitempty"`
	FollowUpNote *string `json:"follow_up_note,omitempty"`
}

type deliveryResponse struct {
	Channel message.Channel `json:"channel"`
	State   string          `json:"state"`
	Reason  *string         `json:"reason"`
	Detail  *string         `json:"detail"`
	At      string          `json:"at"`
}

// reminderResponse is the ReminderSent of openapi.yaml.
type reminderResponse struct {
	requestResponse
	RemindersLeft int `json:"reminders_left"`
}

// request returns r. A party does not see the delivery reasons of the other party,
// because they reveal facts about its number.
func (v view) request(r *approval.Request) requestResponse {
	a := requestResponse{
		RequestID: r.ID, PlayerID: r.PlayerID, ApproverType: r.Party, GuardianID: r.GuardianID, State: r.State, Version: r.Version,
		RequestedAt:     wire.Timestamp(r.RequestedAt),
		LastSentAt:      wire.Timestamp(r.LastSentAt),
		ResendAllowedAt: wire.TimestampOrNull(r.ResendAllowedAt(v.rules)),
		Via:             wire.OrNull(string(r.Via)),
		Deliveries:      make([]deliveryResponse, 0, len(r.Deliveries)),
	}
	if v.by.Role == actor.Coach {
		var code *string
		if r.State == approval.RequestPending {
			code = wire.OrNull(r.ShortCode)
		}
		a.ShortCode = &code
		a.FollowedUpAt, a.FollowUpNote = wire.TimestampOrNull(r.FollowedUpAt), wire.OrNull(r.FollowUpNote)
	}
	own := v.by.Role == actor.Coach || v.by.Role == r.Party
	for _, d := range r.Deliveries {
		sent := deliveryResponse{Channel: d.Channel, State: d.State, At: wire.Timestamp(d.At)}
		if own {
			sent.Reason = wire.OrNull(d.Reason)
		}
		if v.by.Role == actor.Coach {
			sent.Detail = wire.OrNull(d.Detail())
		}
		a.Deliveries = append(a.Deliveries, sent)
	}
	return a
}
