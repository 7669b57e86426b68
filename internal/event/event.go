// Package event holds the facts that the domain emits. A fact says what
// happened and to whom; what anybody is told of it is package notify's to say.
package event

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
)

// Type names a fact.
type Type string

// The facts, with the fields of Event that each fills beside the names and ids.
const (
	// Requested: Party is asked for its approval.
	Requested Type = "requested"
	// Reminded: Party is reminded of its open request.
	Reminded Type = "reminded"
	// Approved, Rejected, Revoked: Party decided.
	Approved Type = "approved"
	Rejected Type = "rejected"
	Revoked  Type = "revoked"
	// Disputed: Party says that the number does not belong to who was meant.
	Disputed Type = "disputed"
	// Changed: the coach changed whom the record is about; Party had approved.
	Changed Type = "changed"
	// Unlinked: Party had approved and is not part of the player any more.
	Unlinked Type = "unlinked"
	// Removed: the coach removed the player; Party had approved.
	Removed Type = "removed"
	// DeliveryFailed: a message of the request to Party failed for good.
	DeliveryFailed Type = "delivery_failed"
	// PendingLong: Count requests of the coach have waited for longer than Waited.
	PendingLong Type = "pending_long"
	// TokenReused: an old refresh token came back and SessionID was ended.
	TokenReused Type = "token_reused"
	// CertificateExpiring: the document of the coach with that Title is good until Day.
	CertificateExpiring Type = "certificate_expiring"
	// NumberChanged: Party has another number since, in SessionID.
	NumberChanged Type = "number_changed"
	// CoachLeft: the coach closed their account; Party had approved, for
	// StudentName and for OtherStudents.
	CoachLeft Type = "coach_left"
)

// What operators decide about a coach's identity.
const (
	KYCVerified Type = "kyc_verified"
	KYCRejected Type = "kyc_rejected" // for Reason
)

// Event is one fact. Names are as the coach entered them.
type Event struct {
	Type  Type
	Party actor.Role // guardian or student, where a party is concerned

	CoachID, PlayerID, RequestID, SessionID string

	// PartyID is the account of Party; the store fills it where it made the
	// account in the same transaction.
	PartyID string

	CoachName, StudentName, GuardianName string
	OtherStudents                        []string // for CoachLeft

	// Count of requests, and for longer than what they wait, for PendingLong.
	Count  int
	Waited time.Duration

	// DocumentID, Title and Day (YYYY-MM-DD), for CertificateExpiring.
	DocumentID, Title, Day string

	// Reason, for KYCRejected.
	Reason string
}
