package api

import (
	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/wire"
)

// statusAnswer is the ApprovalStatus of openapi.yaml.
type statusAnswer struct {
	PlayerID                 string         `json:"player_id"`
	Adult                    bool           `json:"adult"`
	GuardianApprovalRequired bool           `json:"guardian_approval_required"`
	GuardianStatus           string         `json:"guardian_status"`
	GuardianState            approval.State `json:"guardian_state"`
	GuardianStatusUpdatedAt  *string        `json:"guardian_status_updated_at"`
	GuardianRequest          *requestAnswer `json:"guardian_request"`
	StudentStatus            string         `json:"student_status"`
	StudentState             approval.State `json:"student_state"`
	StudentStatusUpdatedAt   *string        `json:"student_status_updated_at"`
	StudentRequest           *requestAnswer `json:"student_request"`
	History                  []recordAnswer `json:"history"`
}

// recordAnswer is the HistoryRecord of openapi.yaml (spec section 2.3).
type recordAnswer struct {
	ID           string           `json:"id"`
	PlayerID     string           `json:"player_id"`
	ApproverType actor.Role       `json:"approver_type"`
	Action       approval.Trigger `json:"action"`
	Reason       *string          `json:"reason"`
	Timestamp    string           `json:"timestamp"`
}

// status returns where both parties of p stand. The service has left out of
// history the reasons that are not the caller's to read.
func (v view) status(p *approval.Player, history []approval.Record) statusAnswer {
	adult := p.Adult(v.now)
	a := statusAnswer{
		PlayerID: p.ID, Adult: adult, GuardianApprovalRequired: !adult,
		GuardianStatus:          p.GuardianApprover.Consent.State.Status(),
		GuardianState:           p.GuardianApprover.Consent.State,
		GuardianStatusUpdatedAt: wire.TimestampOrNull(p.GuardianApprover.Consent.ChangedAt),
		GuardianRequest:         v.newestRequest(p, actor.Guardian),
		StudentStatus:           p.StudentApprover.Consent.State.Status(),
		StudentState:            p.StudentApprover.Consent.State,
		StudentStatusUpdatedAt:  wire.TimestampOrNull(p.StudentApprover.Consent.ChangedAt),
		StudentRequest:          v.newestRequest(p, actor.Student),
		History:                 make([]recordAnswer, 0, len(history)),
	}
	for _, r := range history {
		a.History = append(a.History, recordAnswer{
			ID: r.ID, PlayerID: r.PlayerID, ApproverType: r.Party,
			Action: r.Action, Reason: wire.OrNull(r.Reason), Timestamp: wire.Timestamp(r.At),
		})
	}
	return a
}

// newestRequest is the newest request to party, whatever its state, or null.
func (v view) newestRequest(p *approval.Player, party actor.Role) *requestAnswer {
	r := p.Approver(party).Request
	if r == nil {
		return nil
	}
	a := v.request(r)
	return &a
}
