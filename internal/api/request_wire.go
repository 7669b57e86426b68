package api

import (
	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/wire"
)

// requestAnswer is the Request of openapi.yaml.
type requestAnswer struct {
	RequestID       string                `json:"request_id"`
	PlayerID        string                `json:"player_id"`
	ApproverType    actor.Role            `json:"approver_type"`
	State           approval.RequestState `json:"state"`
	RequestedAt     string                `json:"requested_at"`
	LastSentAt      string                `json:"last_sent_at"`
	ResendAllowedAt *string               `json:"resend_allowed_at"`
	Deliveries      []deliveryAnswer      `json:"deliveries"`
}

type deliveryAnswer struct {
	Channel approval.Channel `json:"channel"`
	State   string           `json:"state"`
	Reason  *string          `json:"reason"`
	At      string           `json:"at"`
}

// reminderAnswer is the ReminderSent of openapi.yaml.
type reminderAnswer struct {
	requestAnswer
	RemindersLeft int `json:"reminders_left"`
}

// request returns r. A party reads why a delivery waits or failed of its own
// request alone: of the other's it would tell what number that one has.
func (v view) request(r *approval.Request) requestAnswer {
	a := requestAnswer{
		RequestID: r.ID, PlayerID: r.PlayerID, ApproverType: r.Party, State: r.State,
		RequestedAt:     wire.Timestamp(r.RequestedAt),
		LastSentAt:      wire.Timestamp(r.LastSentAt),
		ResendAllowedAt: wire.TimestampOrNull(r.ResendAllowedAt(v.rules)),
		Deliveries:      make([]deliveryAnswer, 0, len(r.Deliveries)),
	}
	own := v.by.Role == actor.Coach || v.by.Role == r.Party
	for _, d := range r.Deliveries {
		sent := deliveryAnswer{Channel: d.Channel, State: d.State, At: wire.Timestamp(d.At)}
		if own {
			sent.Reason = wire.OrNull(d.Reason)
		}
		a.Deliveries = append(a.Deliveries, sent)
	}
	return a
}
