package consent

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// approvalStatus serves GET /api/players/approval-status/{playerId}.
func (h handlers) approvalStatus(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	p, history, err := h.Status(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.view(r.Caller).status(p, history)), nil
}

// respond serves PUT /api/approval/guardian-response and student-response. The party is
// the role of the caller; each route allows one role.
func (h handlers) respond(ctx context.Context, r api.Request[decisionRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	if h.Rules.ApprovalFreshness > 0 && in.Action == string(approval.Approve) && in.RequestID == nil && !f.Has("/request_id") {
		f.Add("/request_id", "required", "Name the request that the person saw.")
	}
	if err := h.checkBody(ctx, r.Caller.Actor, in.PlayerID, f); err != nil {
		return api.Response{}, err
	}
	p, history, err := h.Decide(ctx, r.Caller.Actor, in.PlayerID, in.decision())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.view(r.Caller).status(p, history)), nil
}

// listPending serves GET /api/coach/pending-approvals.
func (h handlers) listPending(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	items, err := h.Pending(ctx, r.Caller.Actor, approval.Page{Limit: page.ReadLimit(), After: after(page.After)})
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, items, h.view(r.Caller).pending, func(i approval.PendingItem) api.Keyset {
		return keysetOf(approval.Keyset{At: i.PendingSince, ID: i.PlayerID, Party: i.Party, GuardianID: i.GuardianID})
	}), nil
}

// statusResponse is the ApprovalStatus of openapi.yaml.
type statusResponse struct {
	PlayerID                 string                `json:"player_id"`
	Adult                    bool                  `json:"adult"`
	GuardianApprovalRequired bool                  `json:"guardian_approval_required"`
	GuardianStatus           string                `json:"guardian_status"`
	GuardianState            approval.State        `json:"guardian_state"`
	GuardianStatusUpdatedAt  *string               `json:"guardian_status_updated_at"`
	GuardianPendingReason    *string               `json:"guardian_pending_reason"`
	GuardianRequest          *requestResponse      `json:"guardian_request"`
	StudentStatus            string                `json:"student_status"`
	StudentState             approval.State        `json:"student_state"`
	StudentStatusUpdatedAt   *string               `json:"student_status_updated_at"`
	StudentPendingReason     *string               `json:"student_pending_reason"`
	StudentRequest           *requestResponse      `json:"student_request"`
	Guardians                []any                 `json:"guardians"`
	GuardianRule             approval.GuardianRule `json:"guardian_rule"`
	GuardianApproval         *string               `json:"guardian_approval"`
	History                  []recordResponse      `json:"history"`
}

// recordResponse is the HistoryRecord of openapi.yaml (spec section 2.3).
type recordResponse struct {
	ID           string           `json:"id"`
	PlayerID     string           `json:"player_id"`
	ApproverType actor.Role       `json:"approver_type"`
	GuardianID   string           `json:"guardian_id,omitempty"`
	Action       approval.Trigger `json:"action"`
	Reason       *string          `json:"reason"`
	Timestamp    string           `json:"timestamp"`
	Via          actor.Via        `json:"via"`
	NoticeHash   *string          `json:"notice_hash"`
	TextHash     *string          `json:"text_hash"`
	Shown        *shownResponse   `json:"shown"`
}

// shownResponse is the Shown of openapi.yaml.
type shownResponse struct {
	CoachName        string `json:"coach_name"`
	CoachPictureHash string `json:"coach_picture_hash,omitempty"`
	StudentName      string `json:"student_name"`
	Batch            string `json:"batch"`
	NoticeHash       string `json:"notice_hash"`
	TextHash         string `json:"text_hash"`
	Language         string `json:"language"`
	Version          int64  `json:"version,omitempty"`
}

// newShownResponse returns what a party was shown, or nil if that is not known.
func newShownResponse(w approval.Wording) *shownResponse {
	if !w.Known() {
		return nil
	}
	return &shownResponse{
		CoachName: w.CoachName, CoachPictureHash: w.CoachPicture, StudentName: w.StudentName, Batch: w.Batch,
		NoticeHash: w.NoticeHash, TextHash: w.TextHash, Language: w.Language, Version: w.Version,
	}
}

// status returns the consents of both parties. The service has removed from history the
// reasons that the caller may not read.
func (v view) status(p *approval.Player, history []approval.Record) statusResponse {
	adult := p.Adult(v.now)
	a := statusResponse{
		PlayerID: p.ID, Adult: adult, GuardianApprovalRequired: !adult,
		GuardianStatus:          p.SeenBy(v.by, actor.Guardian).Consent.State.Status(),
		GuardianState:           p.SeenBy(v.by, actor.Guardian).Consent.State,
		GuardianStatusUpdatedAt: wire.TimestampOrNull(p.SeenBy(v.by, actor.Guardian).Consent.ChangedAt),
		GuardianPendingReason:   v.pendingReason(p, actor.Guardian),
		GuardianRequest:         v.newestRequest(p, actor.Guardian),
		StudentStatus:           p.Party(actor.Student).Consent.State.Status(),
		StudentState:            p.Party(actor.Student).Consent.State,
		StudentStatusUpdatedAt:  wire.TimestampOrNull(p.Party(actor.Student).Consent.ChangedAt),
		StudentPendingReason:    v.pendingReason(p, actor.Student),
		StudentRequest:          v.newestRequest(p, actor.Student),
		Guardians:               v.guardians(p),
		GuardianRule:            p.Rule,
		GuardianApproval:        v.guardianApproval(p),
		History:                 make([]recordResponse, 0, len(history)),
	}
	for _, r := range history {
		a.History = append(a.History, recordResponse{
			ID: r.ID, PlayerID: r.PlayerID, ApproverType: r.Party, GuardianID: r.GuardianID,
			Action: r.Action, Reason: wire.OrNull(r.Reason), Timestamp: wire.Timestamp(r.At), Via: r.Via,
			NoticeHash: wire.OrNull(r.Wording.NoticeHash), TextHash: wire.OrNull(r.Wording.TextHash),
			Shown: newShownResponse(r.Wording),
		})
	}
	return a
}

// pendingReason returns why the consent of party is pending, or nil. A party may read only the
// reason of its consent.
func (v view) pendingReason(p *approval.Player, party actor.Role) *string {
	if v.by.Role != actor.Coach && v.by.Role != party {
		return nil
	}
	return wire.OrNull(string(p.SeenBy(v.by, party).PendingReason()))
}

// newestRequest returns the newest request to party, in any state, or nil.
func (v view) newestRequest(p *approval.Player, party actor.Role) *requestResponse {
	r := p.SeenBy(v.by, party).Request
	if r == nil {
		return nil
	}
	a := v.request(r)
	return &a
}

// pendingResponse is the PendingApproval of openapi.yaml.
type pendingResponse struct {
	PlayerID        string         `json:"player_id"`
	StudentName     string         `json:"student_name"`
	ApproverType    actor.Role     `json:"approver_type"`
	GuardianID      string         `json:"guardian_id,omitempty"`
	ApproverName    string         `json:"approver_name"`
	Status          approval.State `json:"status"`
	RequestID       *string        `json:"request_id"`
	RequestedAt     *string        `json:"requested_at"`
	DaysPending     int            `json:"days_pending"`
	ResendAllowedAt *string        `json:"resend_allowed_at"`
	RemindersLeft   int            `json:"reminders_left"`
	PendingReason   *string        `json:"pending_reason"`
	BlockedBy       *string        `json:"blocked_by"`
}

// pending returns the response for one party that has not decided.
func (v view) pending(i approval.PendingItem) pendingResponse {
	a := pendingResponse{
		PlayerID: i.PlayerID, StudentName: i.StudentName,
		ApproverType: i.Party, GuardianID: i.GuardianID, ApproverName: i.ApproverName,
		Status:        approval.Pending,
		DaysPending:   max(0, int(v.now.Sub(i.PendingSince)/(24*time.Hour))),
		RemindersLeft: max(0, v.rules.RemindersPerWindow-i.Reminders),
		PendingReason: wire.OrNull(string(i.Reason)),
		BlockedBy:     wire.OrNull(i.BlockedBy()),
	}
	if r := i.Request; r != nil && r.State == approval.RequestPending {
		a.RequestID = &r.ID
		a.RequestedAt = wire.TimestampOrNull(r.RequestedAt)
		a.ResendAllowedAt = wire.TimestampOrNull(r.ResendAllowedAt(v.rules))
	}
	return a
}
