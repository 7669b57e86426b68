package coach

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
)

// FollowUpTarget is within how long a coach is to follow up on a request that
// waits (spec section 8), FollowUpWindow how far back the dashboard counts.
const (
	FollowUpTarget = 48 * time.Hour
	FollowUpWindow = 30 * 24 * time.Hour
)

// LongPending is what a request has waited for more than when it waits long (spec
// section 8, pending reminder).
const LongPending = 3 * 24 * time.Hour

// MaxAttention bounds the list of what needs attention.
const MaxAttention = 50

// Kind says why something needs the coach's attention.
type AttentionKind string

// The kinds.
const (
	ProfileIncomplete   AttentionKind = "profile_incomplete"
	DeliveryFailed      AttentionKind = "delivery_failed"
	ContactDisputed     AttentionKind = "disputed"
	ConsentRejected     AttentionKind = "rejected"
	ConsentRevoked      AttentionKind = "revoked"
	CertificateExpiring AttentionKind = "certificate_expiring"
	CertificateExpired  AttentionKind = "certificate_expired"
)

// Kinds lists every kind.
var AttentionKinds = []AttentionKind{ProfileIncomplete, DeliveryFailed, ContactDisputed, ConsentRejected, ConsentRevoked, CertificateExpiring, CertificateExpired}

// Attention is one thing that the coach should look at.
type Attention struct {
	Kind AttentionKind
	// Since is when it began.
	Since time.Time
	// PlayerID, StudentName and Party are of the player concerned, RequestID of its
	// newest request; empty where there is none.
	PlayerID    string
	StudentName string
	Party       actor.Role
	RequestID   string
	// DocumentID and Title are of the certificate concerned; empty where there is none.
	DocumentID string
	Title      string
}

// States counts players by the state of one party.
type ConsentCounts struct{ Pending, Approved, Rejected, Revoked int }

// Waiting counts the pending approvals by how long they have been pending.
type PendingCounts struct {
	Total int
	// Over48h have been pending for more than FollowUpTarget, OverLong of these for
	// more than LongPending.
	Over48h, LongPending int
	// Oldest is since when the first of them is pending; zero where there is none.
	Oldest time.Time
}

// FollowUp says how the coach keeps to FollowUpTarget. To follow up on a request
// is to remind its party, to send it again, to correct its contact, or to end it.
type FollowUp struct {
	// Overdue are open for longer than the target, and nothing was ever done.
	Overdue int
	// Reached are the requests whose target passed within the window and whose party
	// had not answered of itself by then; FollowedUp are those of them on which the
	// coach followed up in time.
	Reached, FollowedUp int
}

// Share is FollowedUp of Reached, 0 to 1; false where nothing was to be done.
func (f FollowUp) Share() (float64, bool) {
	if f.Reached == 0 {
		return 0, false
	}
	return float64(f.FollowedUp) / float64(f.Reached), true
}

// Dashboard is what a coach sees at first.
type Dashboard struct {
	Profile Profile
	// Missing is what the profile lacks.
	Missing []string
	// KYC is where the verification stands, Disabled while that is off.
	KYC          KYCState
	Subscription Subscription
	Players      struct {
		Total             int
		Guardian, Student ConsentCounts
	}
	Pending  PendingCounts
	FollowUp FollowUp
	// Attention is the newest first, at most MaxAttention; Counts are of all.
	Attention []Attention
	Counts    map[AttentionKind]int
	Unread    int
}

// DashboardStore is what a dashboard is read from; package store provides it.
type DashboardStore interface {
	// Dashboard reads all of a coach's dashboard as it is at now, but what follows
	// from the settings.
	Dashboard(ctx context.Context, coachID string, now time.Time) (*Dashboard, error)
}

// Dashboards shows coaches where they stand.
type Dashboards struct {
	Store DashboardStore
	// Required names the fields that make a profile complete.
	Required []string
	Tiers    Tiers
	Now      func() time.Time
}

// Of returns the caller's own dashboard.
func (d *Dashboards) Of(ctx context.Context, by actor.Actor) (*Dashboard, error) {
	now := d.Now()
	board, err := d.Store.Dashboard(ctx, by.AccountID, now)
	if err != nil {
		return nil, err
	}
	board.Subscription.Tier = d.Tiers.Of(board.Subscription.StoredTier)
	board.KYC = d.Tiers.KYCState(board.Profile.KYC)
	board.Missing = board.Profile.Missing(d.Required)
	if len(board.Missing) > 0 {
		board.addAttention(Attention{Kind: ProfileIncomplete, Since: board.Profile.UpdatedAt})
	}
	for _, document := range board.Profile.Documents {
		board.addCertificate(document, now)
	}
	slices.SortStableFunc(board.Attention, func(a, b Attention) int {
		if n := b.Since.Compare(a.Since); n != 0 {
			return n
		}
		return strings.Compare(b.PlayerID, a.PlayerID)
	})
	board.Attention = board.Attention[:min(len(board.Attention), MaxAttention)]
	return board, nil
}

// certificate notes a certificate that ends within the days before which its coach
// is told, or that has ended.
func (d *Dashboard) addCertificate(v Document, now time.Time) {
	if !v.Kind.Certifies() || v.ExpiresOn == "" {
		return
	}
	a := Attention{Kind: CertificateExpiring, Since: v.ExpiresOn.daysBefore(expiryNoticeDays[0]), DocumentID: v.ID, Title: v.Title}
	if ended := v.ExpiresOn.daysBefore(-1); !now.Before(ended) { // its last day is over
		a.Kind, a.Since = CertificateExpired, ended
	}
	if !now.Before(a.Since) {
		d.addAttention(a)
	}
}

func (d *Dashboard) addAttention(a Attention) {
	d.Attention = append(d.Attention, a)
	d.Counts[a.Kind]++
}
