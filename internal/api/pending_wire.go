package api

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/wire"
)

// pendingAnswer is the PendingApproval of openapi.yaml.
type pendingAnswer struct {
	PlayerID        string         `json:"player_id"`
	StudentName     string         `json:"student_name"`
	ApproverType    actor.Role     `json:"approver_type"`
	ApproverName    string         `json:"approver_name"`
	Status          approval.State `json:"status"`
	RequestID       *string        `json:"request_id"`
	RequestedAt     *string        `json:"requested_at"`
	DaysPending     int            `json:"days_pending"`
	ResendAllowedAt *string        `json:"resend_allowed_at"`
	RemindersLeft   int            `json:"reminders_left"`
	BlockedBy       *string        `json:"blocked_by"`
}

// pending returns one party for whom the coach waits.
func (v view) pending(i approval.PendingItem) pendingAnswer {
	a := pendingAnswer{
		PlayerID: i.PlayerID, StudentName: i.StudentName,
		ApproverType: i.Party, ApproverName: i.ApproverName,
		Status:        approval.Pending,
		DaysPending:   max(0, int(v.now.Sub(i.PendingSince)/(24*time.Hour))),
		RemindersLeft: max(0, v.rules.RemindersPerWindow-i.Reminders),
		BlockedBy:     wire.OrNull(i.BlockedBy()),
	}
	if r := i.Request; r != nil && r.State == approval.RequestPending {
		a.RequestID = &r.ID
		a.RequestedAt = wire.TimestampOrNull(r.RequestedAt)
		a.ResendAllowedAt = wire.TimestampOrNull(r.ResendAllowedAt(v.rules))
	}
	return a
}
