package admin

import (
	"context"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// accountResponse is a coach in a list. It has the number, by which an operator recognizes a
// coach who calls. The audit log records each search.
type accountResponse struct {
	CoachID      string  `json:"coach_id"`
	MobileNumber string  `json:"mobile_number"`
	Name         *string `json:"name"`
	Tier         string  `json:"tier"`
	KYCState     string  `json:"kyc_state"`
	State        string  `json:"state"`
	SuspendedAt  *string `json:"suspended_at"`
	CreatedAt    string  `json:"created_at"`
}

func (s *Server) newAccountResponse(a coach.Account) accountResponse {
	return accountResponse{
		CoachID: a.ID, MobileNumber: string(a.Number), Name: wire.OrNull(a.Name), Tier: s.Subscriptions.Tiers.Of(a.Tier).Name,
		KYCState: string(s.Subscriptions.Tiers.KYCState(a.KYC)), State: a.State(), SuspendedAt: wire.TimestampOrNull(a.SuspendedAt), CreatedAt: wire.Timestamp(a.CreatedAt),
	}
}

// deviceApprovalResponse is an approval on a device that had signed in as the coach.
type deviceApprovalResponse struct {
	PlayerID     string     `json:"player_id"`
	ApproverType actor.Role `json:"approver_type"`
	Timestamp    string     `json:"timestamp"`
}

// coachResponse is one coach: profile, tier and usage. It says nothing about players but
// their number, and the ids of those with an approval on a device of the coach.
type coachResponse struct {
	accountResponse
	SuspendedFor    *string        `json:"suspended_for"`
	Email           *string        `json:"email"`
	Bio             *string        `json:"bio"`
	ExperienceYears *int           `json:"experience_years"`
	Sports          []string       `json:"sports"`
	UpdatedAt       string         `json:"updated_at"`
	TierSince       string         `json:"tier_since"`
	RequestedTier   *string        `json:"requested_tier"`
	Use             useResponse    `json:"use"`
	Visible         bool           `json:"visible"`
	Limits          limitsResponse `json:"limits"`

	ApprovalsOnCoachDevice []deviceApprovalResponse `json:"approvals_on_coach_device"`
}

type useResponse struct {
	Players       int64 `json:"players"`
	StorageBytes  int64 `json:"storage_bytes"`
	MessagesToday int64 `json:"messages_today"`
}

// limitsResponse has null for no limit.
type limitsResponse struct {
	Players        *int64 `json:"players"`
	StorageBytes   *int64 `json:"storage_bytes"`
	MessagesPerDay *int64 `json:"messages_per_day"`
}

// coach serves GET /api/admin/coaches/{coach_id}.
func (s *Server) coach(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	return s.readCoach(ctx, r.Caller, id)
}

// readCoach returns one coach. The audit log records the read.
func (s *Server) readCoach(ctx context.Context, caller Caller, id string) (Response, error) {
	a, p, err := s.Accounts.Read(ctx, caller.Operator(), id)
	if err != nil {
		return Response{}, err
	}
	sub, err := s.Subscriptions.Of(ctx, id)
	if err != nil {
		return Response{}, err
	}
	onDevice, err := s.Accounts.DeviceApprovals(ctx, id)
	if err != nil {
		return Response{}, err
	}
	flagged := make([]deviceApprovalResponse, len(onDevice))
	for i, d := range onDevice {
		flagged[i] = deviceApprovalResponse{PlayerID: d.PlayerID, ApproverType: d.Party, Timestamp: wire.Timestamp(d.At)}
	}
	sports := p.Sports
	if sports == nil {
		sports = []string{}
	}
	limit := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	return endpoint.OK(coachResponse{
		accountResponse: s.newAccountResponse(a), SuspendedFor: wire.OrNull(a.SuspendedReason),
		Email: wire.OrNull(p.Email), Bio: wire.OrNull(p.Bio), ExperienceYears: p.Experience, Sports: sports, UpdatedAt: wire.Timestamp(p.UpdatedAt),
		TierSince: wire.Timestamp(sub.Since), RequestedTier: wire.OrNull(sub.Requested), Use: useResponse{sub.Usage.Players, sub.Usage.StorageBytes, sub.Usage.Messages}, Visible: p.Visible,
		Limits:                 limitsResponse{limit(sub.Tier.Limits.Players), limit(sub.Tier.Limits.StorageBytes), limit(sub.Tier.Limits.MessagesPerDay)},
		ApprovalsOnCoachDevice: flagged,
	}), nil
}

// missingCoachOr returns not_found if there is no such coach, else err: not_found comes before
// validation_failed.
func (s *Server) missingCoachOr(ctx context.Context, id string, err error) error {
	if missing := s.Accounts.Check(ctx, id); missing != nil {
		return missing
	}
	return err
}

type tierRequest struct {
	Tier string `json:"tier" rule:"required,min=1,max=100"`
}

// setTier serves PUT /api/admin/coaches/{coach_id}/tier.
func (s *Server) setTier(ctx context.Context, r Request[tierRequest], id string) (Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return Response{}, s.missingCoachOr(ctx, id, err)
	}
	if _, err := s.Subscriptions.Set(ctx, r.Caller.Operator(), id, in.Tier); err != nil {
		return Response{}, err
	}
	return s.readCoach(ctx, r.Caller, id)
}

type suspendRequest struct {
	Reason string `json:"reason" rule:"required,name,lines,min=1,max=500"`
}

// Reason checks the reason of a suspension or a rejection that the command line got, with
// the rules of the API. Its error is validation_failed with the pointer /reason.
func Reason(text string) (string, error) {
	var f wire.Faults
	var in suspendRequest
	if !utf8.ValidString(text) {
		f.Add("/reason", "invalid_characters", "This must be UTF-8.")
	} else {
		wire.Bind(map[string]any{"reason": text}, &in, &f)
	}
	return in.Reason, f.Err()
}

// suspend serves POST /api/admin/coaches/{coach_id}/suspend.
func (s *Server) suspend(ctx context.Context, r Request[suspendRequest], id string) (Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return Response{}, s.missingCoachOr(ctx, id, err)
	}
	if err := s.Accounts.Suspend(ctx, r.Caller.Operator(), id, in.Reason); err != nil {
		return Response{}, err
	}
	s.Streams.Hub.Wake(id) // end the streams of the coach
	return s.readCoach(ctx, r.Caller, id)
}

// restore serves POST /api/admin/coaches/{coach_id}/restore.
func (s *Server) restore(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	if err := s.Accounts.Restore(ctx, r.Caller.Operator(), id); err != nil {
		return Response{}, err
	}
	return s.readCoach(ctx, r.Caller, id)
}
