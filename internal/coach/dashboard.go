package coach

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// FollowUpTarget is how soon a coach should follow up on an open request (spec
// section 8). FollowUpWindow is how far back the dashboard counts.
const (
	FollowUpTarget = 48 * time.Hour
	FollowUpWindow = 30 * 24 * time.Hour
)

// LongPending is the age above which a pending request counts as long pending (spec
// section 8, pending reminder).
const LongPending = 3 * 24 * time.Hour

// MaxAttention bounds the attention list and the list of overdue follow-ups.
const MaxAttention = 50

// AttentionKind says why an item needs the coach's attention.
type AttentionKind string

// The attention kinds.
const (
	ProfileIncomplete   AttentionKind = "profile_incomplete"
	DeliveryFailed      AttentionKind = "delivery_failed"
	MessageHeld         AttentionKind = "message_limit" // a message waits for a message limit
	ContactDisputed     AttentionKind = "disputed"
	ConsentRejected     AttentionKind = "rejected"
	ConsentRevoked      AttentionKind = "revoked"
	CertificateExpiring AttentionKind = "certificate_expiring"
	CertificateExpired  AttentionKind = "certificate_expired"
)

// AttentionKinds lists every kind.
var AttentionKinds = []AttentionKind{ProfileIncomplete, DeliveryFailed, MessageHeld, ContactDisputed, ConsentRejected, ConsentRevoked, CertificateExpiring, CertificateExpired}

// Attention is one item that the coach should look at.
type Attention struct {
	Kind AttentionKind
	// Since is when the problem began.
	Since time.Time
	// PlayerID, StudentName and Party identify the player, RequestID its newest
	// request; empty if the item is not about a player.
	PlayerID    string
	StudentName string
	Party       actor.Role
	RequestID   string
	// GuardianID and GuardianName are as in Need.
	GuardianID, GuardianName string
	// Channels are those on which the request of a DeliveryFailed failed: sms, chat, email.
	Channels []string
	// HeldBy is the key of the limit that holds the message of a MessageHeld, or "".
	HeldBy string
	// DocumentID and Title identify the certificate, whose last day is ExpiresOn; empty if
	// the item is not about one.
	DocumentID string
	Title      string
	ExpiresOn  Date
}

// ConsentCounts counts players by the consent state of one party.
type ConsentCounts struct{ Pending, Approved, Rejected, Revoked int }

// PlayerCounts counts the players of a coach, and those with a guardian and all by consent.
type PlayerCounts struct {
	Total             int
	Guardian, Student ConsentCounts
}

// PendingCounts counts the pending approvals by age.
type PendingCounts struct {
	Total int
	// Over48h are pending for more than FollowUpTarget, LongPending for more than LongPending.
	Over48h, LongPending int
	// Oldest is when the oldest one became pending; zero if there is none.
	Oldest time.Time
	// NoNumber are approvals of students without a number, who were not asked.
	NoNumber, NoNumberOver48h, NoNumberLong int
}

// Waiting counts those who were asked: for up to 48 h, for up to LongPending, and for longer.
func (c PendingCounts) Waiting() (fresh, older, long int) {
	over48h, long := c.Over48h-c.NoNumberOver48h, c.LongPending-c.NoNumberLong
	return c.Total - c.NoNumber - over48h, over48h - long, long
}

// FollowUp measures how the coach meets FollowUpTarget. A follow-up is a reminder,
// a resend, a corrected contact, a cancellation or a noted phone call.
type FollowUp struct {
	// Overdue are open for longer than the target without a follow-up.
	Overdue int
	// Reached are requests that passed the target within the window without a
	// response. FollowedUp are the ones among them with a follow-up in time.
	Reached, FollowedUp int
}

// OverdueFollowUp is an open request that has been open for longer than
// FollowUpTarget without a follow-up.
type OverdueFollowUp struct {
	RequestID   string
	PlayerID    string
	StudentName string
	Party       actor.Role
	// GuardianID and GuardianName are as in Need.
	GuardianID, GuardianName string
	RequestedAt              time.Time
}

// Share returns FollowedUp / Reached, 0 to 1; false if Reached is 0.
func (f FollowUp) Share() (float64, bool) {
	if f.Reached == 0 {
		return 0, false
	}
	return float64(f.FollowedUp) / float64(f.Reached), true
}

// Summary is the common part of Dashboard and Overview.
type Summary struct {
	Profile Profile
	// Missing are the required profile fields that are empty.
	Missing []string
	// KYC is the verification state, Disabled while the setting KYC is off.
	KYC          KYCState
	Subscription Subscription
	Players      PlayerCounts
	Pending      PendingCounts
	Unread       int
}

// Dashboard is the state of one coach with what needs attention.
type Dashboard struct {
	Summary
	FollowUp FollowUp
	// Overdue is oldest first, at most MaxAttention requests; FollowUp.Overdue counts all.
	Overdue []OverdueFollowUp
	// Attention is newest first, at most MaxAttention items. Counts count all items.
	Attention []Attention
	Counts    map[AttentionKind]int
}

// Dashboards builds dashboards.
type Dashboards struct {
	Store Store
	// Required are the fields of a complete profile (PROFILE_REQUIRED).
	Required []string
	Tiers    Tiers
	Now      func() time.Time
}

// Of returns the caller's dashboard.
func (d *Dashboards) Of(ctx context.Context, by actor.Actor) (*Dashboard, error) {
	now := d.Now()
	board, err := d.Store.Dashboard(ctx, by.AccountID, now)
	if err != nil {
		return nil, err
	}
	d.complete(&board.Summary)
	if len(board.Missing) > 0 {
		board.addAttention(Attention{Kind: ProfileIncomplete, Since: board.Profile.UpdatedAt})
	}
	for _, a := range expiringCertificates(board.Profile.Documents, now) {
		board.addAttention(a)
	}
	sortAttention(board.Attention)
	board.Attention = board.Attention[:min(len(board.Attention), MaxAttention)]
	return board, nil
}

// complete adds what depends on settings.
func (d *Dashboards) complete(s *Summary) {
	s.Subscription.Tier = d.Tiers.Of(s.Subscription.StoredTier)
	s.KYC = d.Tiers.KYCState(s.Profile.KYC)
	s.Missing = s.Profile.Missing(d.Required)
}

// sortAttention sorts items, newest first.
func sortAttention(items []Attention) {
	slices.SortStableFunc(items, func(a, b Attention) int {
		if n := b.Since.Compare(a.Since); n != 0 {
			return n
		}
		return strings.Compare(b.PlayerID, a.PlayerID)
	})
}

// expiringCertificates returns the certificates that expire soon or have expired.
func expiringCertificates(documents []Document, now time.Time) (items []Attention) {
	for _, v := range documents {
		if !v.Kind.Certifies() {
			continue
		}
		switch v.Validity(now) {
		case EndsSoon:
			items = append(items, Attention{Kind: CertificateExpiring, Since: v.ExpiresOn.daysBefore(expiryNotificationDays[0]), DocumentID: v.ID, Title: v.Title, ExpiresOn: v.ExpiresOn})
		case Ended:
			items = append(items, Attention{Kind: CertificateExpired, Since: v.ExpiresOn.daysBefore(-1), DocumentID: v.ID, Title: v.Title, ExpiresOn: v.ExpiresOn})
		}
	}
	return items
}

func (d *Dashboard) addAttention(a Attention) {
	d.Attention = append(d.Attention, a)
	d.Counts[a.Kind]++
}
