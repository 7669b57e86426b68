package operator

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Actions of the audit log.
const (
	TokenCreated   = "token.create"
	TokenRevoked   = "token.revoke"
	TokensListed   = "token.list"
	TokenRefused   = "token.refused"
	ScopeRefused   = "scope.refused"
	SignedIn       = "operator.sign_in"
	SignedOut      = "operator.sign_out"
	Introspected   = "token.introspect"
	SessionRevoked = "session.revoke"
	CoachFound     = "coach.find"
	CoachRead      = "coach.read"
	CoachTier      = "coach.tier"
	TiersListed    = "tier.list"
	TierApproved   = "tier.approve"
	TierRefused    = "tier.refuse"
	CoachSuspended = "coach.suspend"
	CoachRestored  = "coach.restore"
	KYCListed      = "kyc.list"
	AuditRead      = "audit.read"
	KYCRead        = "kyc.read"
	KYCApproved    = "kyc.approve"
	KYCRejected    = "kyc.reject"
	DocumentRead   = "document.read"
	// NamesListed, NameRead, NameConfirmed, NameRefused: names and pictures of coaches that wait for an operator.
	NamesListed    = "name.list"
	NameRead       = "name.read"
	NameConfirmed  = "name.confirm"
	NameRefused    = "name.refuse"
	DisputesListed = "dispute.list"
	DisputeLifted  = "dispute.lift"
	// PersonExported, PersonErased, PlayerErased: an operator exported or erased an account, or erased a player. The detail
	// is the reason.
	PersonExported = "person.export"
	PersonErased   = "person.erase"
	PlayerErased   = "player.erase"
	// LogContinued: the log of consents goes on under another name after it had stopped.
	LogContinued     = "log.continue"
	DeliveriesListed = "delivery.list"
	DeliveryRetried  = "delivery.retry"
	CostsListed      = "message_cost.list"
	// MailAllowed: an operator ended a stop of mail to an address. The detail is the reason.
	MailAllowed = "mail.allow"
	// ConversationRead: an operator read what a coach and a family wrote. The detail is the
	// reason.
	ConversationRead = "conversation.read"
	WebhooksListed   = "webhook.list"
	WebhookRead      = "webhook.read"
	WebhookCreated   = "webhook.create"
	WebhookUpdated   = "webhook.update"
	WebhookRotated   = "webhook.rotate_secret"
	WebhookDeleted   = "webhook.delete"
	WebhookTested    = "webhook.test"
	WebhookReplayed  = "webhook.replay"
	WebhookLogRead   = "webhook.log"
	// WebhookDisabled: the service disabled a webhook, because its endpoint accepts nothing.
	WebhookDisabled = "webhook.disable"
	// AvailabilityFound: a service read the availability of a number.
	AvailabilityFound = "availability.by_number"
	MasterKeyRotated  = "master_key.rotate"
	// ServiceSecretRotated: the service secret was replaced.
	ServiceSecretRotated = "service_secret.rotate"
	SigningKeyRotated    = "signing_key.rotate"
)

// Entry is one row of the audit log: one operator's action on one object. Detail
// never has personal data. Entries are never removed, and only the Count of Introspected
// changes.
type Entry struct {
	ID         string
	At         time.Time
	By         actor.Operator
	Action     string
	ObjectKind string
	// ObjectID is empty if the action has no single object, for example a search.
	ObjectID string
	Detail   string
	// Count is the number of calls: 1, but for Introspected, whose entry has all calls of
	// one token in one minute. At is then the start of the minute.
	Count int64
}

// AddEntry adds an entry to the audit log. detail must contain no personal data. No statement
// deletes entries; RecordIntrospections changes a count.
func AddEntry(ctx context.Context, tx *database.Tx, id string, by actor.Operator, action, objectKind, objectID, detail string) error {
	err := tx.Defer(ctx, `
		INSERT INTO audit_log (id, at, operator_id, operator_name, action, object_kind, object_id, detail)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		id, database.Micros(tx.Now), database.Text(by.ID), by.Name, action, objectKind, objectID, detail)
	return fault.Wrap(err, "add audit log entry %s", action)
}
