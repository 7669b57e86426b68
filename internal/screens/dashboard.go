package screens

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/coaching"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type dashboardResponse struct {
	Profile         dashboardProfile            `json:"profile"`
	KYC             dashboardKYC                `json:"kyc"`
	Tier            dashboardTier               `json:"tier"`
	Players         dashboardPlayers            `json:"players"`
	Pending         dashboardPending            `json:"pending_approvals"`
	FollowUp        dashboardFollowUp           `json:"follow_up"`
	Overdue         []overdueResponse           `json:"overdue_follow_ups"`
	Attention       []attentionResponse         `json:"attention"`
	AttentionCounts map[coach.AttentionKind]int `json:"attention_counts"`
	Unread          int                         `json:"unread_notifications"`
	Batches         []dashboardBatch            `json:"batches"`
	Attendance      []attendanceToday           `json:"attendance_today"`
	UnpaidFees      dashboardFees               `json:"unpaid_fees"`
	UnreadReplies   int                         `json:"unread_replies"`
	RecentMessages  []conversation.Message      `json:"recent_messages"`
}

// dashboardFees is the DashboardFees of openapi.yaml: the fees with a balance.
type dashboardFees struct {
	Count   int            `json:"count"`
	Overdue int            `json:"overdue"`
	Sums    []dashboardSum `json:"sums"`
}

type dashboardSum struct {
	Currency string `json:"currency"`
	Balance  int64  `json:"balance"`
	Overdue  int64  `json:"overdue_balance"`
}

func newDashboardFees(sums []fee.Sum) dashboardFees {
	fees := dashboardFees{Sums: []dashboardSum{}}
	for _, sum := range sums {
		fees.Count += sum.Unpaid
		fees.Overdue += sum.Overdue
		fees.Sums = append(fees.Sums, dashboardSum{sum.Currency, sum.UnpaidTotal, sum.OverdueTotal})
	}
	return fees
}

type dashboardProfile struct {
	Complete bool     `json:"complete"`
	Missing  []string `json:"missing"`
}

type dashboardKYC struct {
	State string `json:"state"`
}

type dashboardTier struct {
	Tier   string                  `json:"tier"`
	Use    coaching.UseResponse    `json:"use"`
	Limits coaching.LimitsResponse `json:"limits"`
}

type dashboardPlayers struct {
	Total    int           `json:"total"`
	Guardian statesCounted `json:"guardian"`
	Student  statesCounted `json:"student"`
}

type statesCounted struct {
	Pending  int `json:"pending"`
	Approved int `json:"approved"`
	Rejected int `json:"rejected"`
	Revoked  int `json:"revoked"`
}

type dashboardPending struct {
	Total      int  `json:"total"`
	Under48h   int  `json:"under_48h"`
	Over48h    int  `json:"over_48h"`
	OverLong   int  `json:"over_3_days"`
	OldestDays *int `json:"oldest_days"`
}

type dashboardFollowUp struct {
	TargetIn   int      `json:"target_in"`
	Overdue    int      `json:"overdue"`
	Reached    int      `json:"reached_target"`
	FollowedUp int      `json:"followed_up"`
	Share      *float64 `json:"share"`
}

type overdueResponse struct {
	RequestID    string `json:"request_id"`
	PlayerID     string `json:"player_id"`
	StudentName  string `json:"student_name"`
	ApproverType string `json:"approver_type"`
	GuardianID   string `json:"guardian_id,omitempty"`
	GuardianName string `json:"guardian_name,omitempty"`
	RequestedAt  string `json:"requested_at"`
}

type attentionResponse struct {
	Kind         coach.AttentionKind `json:"kind"`
	Since        string              `json:"since"`
	Detail       string              `json:"detail"`
	PlayerID     *string             `json:"player_id"`
	StudentName  *string             `json:"student_name"`
	ApproverType *string             `json:"approver_type"`
	GuardianID   string              `json:"guardian_id,omitempty"`
	GuardianName string              `json:"guardian_name,omitempty"`
	RequestID    *string             `json:"request_id"`
	DocumentID   *string             `json:"document_id"`
	Title        *string             `json:"title"`
}

// attentionDetails tell the coach what to do; see attentionDetail for the kinds that are not here.
var attentionDetails = map[coach.AttentionKind]string{
	coach.ProfileIncomplete:   "Your profile is incomplete. Until it is complete you cannot add players or send requests.",
	coach.ContactDisputed:     "The owner of this number says that it is the wrong number. Ask for the right one and correct it.",
	coach.ConsentRejected:     "They rejected app access. Correct the details, then send the request again.",
	coach.ConsentRevoked:      "They took their approval back. Ask them why before you send a new request.",
	coach.CertificateExpiring: "This certificate ends soon. Upload the new one in its place.",
	coach.CertificateExpired:  "This certificate has ended. Upload the new one in its place, or delete it.",
}

// attentionDetail tells the coach what to do about an item.
func attentionDetail(a coach.Attention) string {
	switch a.Kind {
	case coach.MessageHeld:
		return approval.HoldDetails[message.HoldOf(a.HeldBy)]
	case coach.DeliveryFailed:
	default:
		return attentionDetails[a.Kind]
	}
	mail := slices.Contains(a.Channels, string(message.Email))
	by := ""
	switch {
	case slices.Contains(a.Channels, string(message.SMS)):
		by = " by SMS"
	case slices.Contains(a.Channels, string(message.Chat)):
		by = " by WhatsApp"
	case mail:
		return "The request could not be delivered by mail. Check the e-mail address, then send it again, or use SMS."
	}
	if mail {
		return "The request could not be delivered" + by + " or by mail. Check the number and the e-mail address, then send it again."
	}
	return "The request could not be delivered" + by + ". Check the number, then send it again."
}

// dashboard serves GET /api/coach/dashboard.
func (h handlers) dashboard(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	d, err := h.Dashboards.Of(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	unpaid, err := h.Fees.Unpaid(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	open, today, err := h.Attended.Today(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	messages, unread, err := h.Conversations.Recent(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	body := newDashboardResponse(d, h.api.Now())
	body.UnreadReplies, body.RecentMessages = unread, append([]conversation.Message{}, messages...)
	body.Batches, body.Attendance = newDashboardBatches(open), newAttendanceToday(today)
	body.UnpaidFees = newDashboardFees(unpaid)
	return endpoint.OK(body), nil
}

func newDashboardResponse(d *coach.Dashboard, now time.Time) dashboardResponse {
	subscription := coaching.NewSubscriptionResponse(d.Subscription)
	a := dashboardResponse{
		Profile:  dashboardProfile{len(d.Missing) == 0, d.Missing},
		KYC:      dashboardKYC{string(d.KYC)},
		Tier:     dashboardTier{subscription.Tier, subscription.Use, subscription.Details.Limits},
		Players:  dashboardPlayers{d.Players.Total, statesCounted(d.Players.Guardian), statesCounted(d.Players.Student)},
		Pending:  newDashboardPending(d.Pending, now),
		FollowUp: dashboardFollowUp{TargetIn: wire.Seconds(coach.FollowUpTarget), Overdue: d.FollowUp.Overdue, Reached: d.FollowUp.Reached, FollowedUp: d.FollowUp.FollowedUp},
		Overdue:  []overdueResponse{}, Attention: []attentionResponse{}, AttentionCounts: map[coach.AttentionKind]int{}, Unread: d.Unread,
	}
	if share, any := d.FollowUp.Share(); any {
		a.FollowUp.Share = &share
	}
	for _, kind := range coach.AttentionKinds {
		a.AttentionCounts[kind] = d.Counts[kind]
	}
	for _, o := range d.Overdue {
		a.Overdue = append(a.Overdue, overdueResponse{o.RequestID, o.PlayerID, o.StudentName, string(o.Party), o.GuardianID, o.GuardianName, wire.Timestamp(o.RequestedAt)})
	}
	for _, v := range d.Attention {
		a.Attention = append(a.Attention, attentionResponse{
			Kind: v.Kind, Since: wire.Timestamp(v.Since), Detail: attentionDetail(v), PlayerID: wire.OrNull(v.PlayerID),
			StudentName: wire.OrNull(v.StudentName), ApproverType: wire.OrNull(string(v.Party)), GuardianID: v.GuardianID, GuardianName: v.GuardianName, RequestID: wire.OrNull(v.RequestID),
			DocumentID: wire.OrNull(v.DocumentID), Title: wire.OrNull(v.Title),
		})
	}
	return a
}

func newDashboardPending(w coach.PendingCounts, now time.Time) dashboardPending {
	p := dashboardPending{Total: w.Total, Under48h: w.Total - w.Over48h, Over48h: w.Over48h, OverLong: w.LongPending}
	if !w.Oldest.IsZero() {
		days := max(0, int(now.Sub(w.Oldest)/(24*time.Hour)))
		p.OldestDays = &days
	}
	return p
}
