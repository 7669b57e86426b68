package team

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// AppService is a service that a guardian or student has only after that party approved.
type AppService string

// App is the app itself: schedule, attendance and fees need no other service. The others
// are the app services of the spec's section 1, clause 7.
const (
	App                AppService = "app"
	InAppNotifications AppService = "in_app_notifications"
	PerformanceReports AppService = "performance_reports"
	FeeReminders       AppService = "fee_reminders"
	TeamCommunications AppService = "team_communications"
	DigitalPayments    AppService = "digital_payments"
	ProgressTracking   AppService = "progress_tracking"
)

// opens has a text for each service that Err is called with: what the party reads after it
// has approved.
var opens = map[AppService]string{
	App:                "the training times, the attendance and the fees",
	PerformanceReports: "the reports that the coach writes",
	TeamCommunications: "the messages of the coach, with a way to reply",
	ProgressTracking:   "the measurements of the coach over time",
}

// Access says whether a party has a service of a player now, and if not, why.
type Access string

// The values of Access.
const (
	Granted Access = ""
	// ApprovalPending: a party has not answered yet.
	ApprovalPending Access = "pending"
	// ApprovalRequired: a party rejected or revoked.
	ApprovalRequired Access = "required"
	// NotInTier: the tier of the coach does not have the service.
	NotInTier Access = "tier"
	// NotLinked: there is no such player, or it has no such party.
	NotLinked Access = "unlinked"
)

// Err returns the problem that the party gets, or nil if it has the service. The problem names
// what the party can read after an approval, without its content.
func (a Access) Err(service AppService) error {
	switch a {
	case Granted:
		return nil
	case ApprovalPending:
		return fault.New(fault.Forbidden, "approval_pending", "An approval opens %s. The coach has asked and waits for the answer.", opens[service]).With("service", string(service))
	case ApprovalRequired:
		return fault.New(fault.Forbidden, "approval_required", "An approval opens %s. It was refused or taken back. The coach can ask again.", opens[service]).With("service", string(service))
	case NotInTier:
		return fault.New(fault.Forbidden, "tier_limit", "The tier of the coach does not include this.")
	default:
		return fault.Missing()
	}
}

// Enabled decides whether a party of a player has a service. The store creates it in the
// transaction that reads or sends: it loads the consents of the players that it needs, and
// package approval decides. Enabled returns NotLinked for every other player.
type Enabled func(playerID string, party actor.Role, guardianID string, service AppService) Access

// Link is a player as the guardian or student who is linked to it sees it.
type Link struct {
	PlayerID    string
	StudentName string
	CoachID     string
	// GuardianID is the caller if it is a guardian.
	GuardianID string
	// CoachZone is the time zone of the coach, whose dates count.
	CoachZone string
	// ApprovedAt is when the party approved; zero if it has not.
	ApprovedAt time.Time
}

// ErrSentBefore returns idempotency_key_reused: something else is stored under the id of a form. A
// person who goes back in the browser can send a form that is saved with other content, which would
// be lost without this error.
func ErrSentBefore() error {
	return fault.New(fault.Invalid, "idempotency_key_reused", "This form was sent before with other content. Check it and send it again.")
}
