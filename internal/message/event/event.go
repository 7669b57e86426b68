// Package event defines the events that domain packages emit. An event says what
// happened and to whom. Package message decides who is notified.
package event

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// Type is the type of an event.
type Type string

// The types, with the fields of Event that each one sets besides names and ids.
const (
	// Requested: Party is asked for its approval.
	Requested Type = "requested"
	// Reminded: Party is reminded of its open request.
	Reminded Type = "reminded"
	// Approved, Rejected, Revoked: Party decided.
	Approved Type = "approved"
	Rejected Type = "rejected"
	Revoked  Type = "revoked"
	// Disputed: Party says that the request went to the wrong person.
	Disputed Type = "disputed"
	// DisputeLifted: Party ended its dispute, and no request is open.
	DisputeLifted Type = "dispute_lifted"
	// Changed: the coach changed the student's details; Party had approved.
	Changed Type = "changed"
	// Unlinked: Party had approved and is no longer linked to the player.
	Unlinked Type = "unlinked"
	// Removed: the coach removed the player; Party had approved.
	Removed Type = "removed"
	// TurningAdult: the student turns 18 on Day, which is empty for a student without an answer.
	TurningAdult Type = "turning_18"
	// TurnedAdult: the student is 18. The guardian's access ends on Day unless the student
	// approves; Day is empty if the student has approved or the guardian has not.
	TurnedAdult Type = "turned_18"
	// AdultUnanswered: the same for the coach, if the student has not approved; Day.
	AdultUnanswered Type = "adult_unanswered"
	// GuardianViewEnded: the adult student removed the guardian.
	GuardianViewEnded Type = "guardian_view_ended"
	// GuardianAdded and GuardianRemoved: the player has another guardian, OtherName, or has it no more; Party had approved.
	GuardianAdded   Type = "guardian_added"
	GuardianRemoved Type = "guardian_removed"
	// GuardiansDisagree: the guardians Yes say yes, the guardians No said no or took a yes back.
	GuardiansDisagree Type = "guardian_conflict"
	// ProofEnding: the proof that Party is an adult ends on Day. ProofEnded: it has ended, and with it the approval of Party.
	ProofEnding Type = "proof_ending"
	ProofEnded  Type = "proof_ended"
	// SecondMessage: Party said yes some time ago, and can still take it back.
	SecondMessage Type = "second_message"
	// Left: Party deleted the account, without an approval or an open request that it ended.
	Left Type = "left"
	// PlayerErased: an operator erased a player, whom the event does not name.
	PlayerErased Type = "player_erased"
	// UnansweredEnding: the data of Count players without an answer is erased after Day. A single one is named.
	UnansweredEnding Type = "unanswered_ending"
	// DeliveryFailed: the message of the request to Party failed permanently on Channel.
	DeliveryFailed Type = "delivery_failed"
	// PendingLong: Count requests of the coach have been pending for more than Waited.
	PendingLong Type = "pending_long"
	// TokenReused: an old refresh token was used again, so SessionID was ended.
	TokenReused Type = "token_reused"
	// CertificateExpiring: the coach's document DocumentID, Title, is valid until Day.
	CertificateExpiring Type = "certificate_expiring"
	// NumberChanged: Party changed its number in SessionID.
	NumberChanged Type = "number_changed"
	// PasskeyAdded: a passkey was added to the account of Party in SessionID.
	PasskeyAdded Type = "passkey_added"
	// FeeReminded: Party is reminded of the fee FeeID, Title, which is due on Day.
	FeeReminded Type = "fee_reminded"
	// FeeTold: Party said that it has paid the fee FeeID, Title.
	FeeTold Type = "fee_told"
	// UPIChanged: the coach changed the UPI ID to which families pay.
	UPIChanged Type = "upi_changed"
	// CoachChanged: the coach, who was called FormerCoach, has another name or picture; Party had approved.
	CoachChanged Type = "coach_changed"
	// CoachLeft: the coach closed their account; Party had approved, for
	// StudentName and for OtherStudents.
	CoachLeft Type = "coach_left"
	// CoachRenaming: the coach, who is called FormerCoach, wants to be called CoachName from Day on; Party had approved.
	CoachRenaming Type = "coach_renaming"
)

// What a coach and a family write to each other, and records about a player.
const (
	// TeamMessage: the coach wrote to Party; MessageID.
	TeamMessage Type = "team_message"
	// TeamReply: Party wrote to the coach; MessageID.
	TeamReply Type = "team_reply"
	// ProgressAdded and ReportAdded: the coach added a measurement or a report that Party
	// may see; RecordID.
	ProgressAdded Type = "progress_added"
	ReportAdded   Type = "report_added"
)

// What a coach does to a training that Party may see; Training.
const (
	TrainingAdded     Type = "training_added"
	TrainingChanged   Type = "training_changed"
	TrainingCancelled Type = "training_cancelled"
	TrainingRestored  Type = "training_restored" // it takes place after all
	TrainingAsked     Type = "training_asked"    // Party has not said whether the player comes
)

// Training is a training in the time zone of its batch.
type Training struct {
	ID string `json:"id"`
	// Kind is training, match or other.
	Kind     string `json:"kind"`
	Title    string `json:"title,omitempty"`
	Opponent string `json:"opponent,omitempty"`
	Venue    string `json:"venue,omitempty"`
	// Day is YYYY-MM-DD, Start HH:MM.
	Day   string `json:"day"`
	Start string `json:"start"`
	// Reason is why it was cancelled.
	Reason string `json:"reason,omitempty"`
	// StartsAt is when it starts: no message about it leaves later.
	StartsAt time.Time `json:"starts_at"`
}

// The KYC decisions of operators.
const (
	KYCVerified Type = "kyc_verified"
	KYCRejected Type = "kyc_rejected" // Reason
)

// The decisions of operators about a name or picture of a coach.
const (
	NameConfirmed Type = "name_confirmed"
	NameRefused   Type = "name_refused" // Title is the name; Reason
)

// The decisions of operators about a coach's request for the tier Title.
const (
	TierApproved Type = "tier_approved"
	TierRefused  Type = "tier_refused" // Reason, if the operator gave one
)

// Change is something about a student that the coach changed.
type Change string

// The changes.
const (
	NameChanged      Change = "name"
	BirthDateChanged Change = "date_of_birth"
	// GuardianNumberChanged and StudentNumberChanged are the number of the other party.
	GuardianNumberChanged Change = "guardian_number"
	StudentNumberChanged  Change = "student_number"
)

// NowFirst is the Reason of GuardianRemoved for the guardian who became the first in the place of the removed one.
const NowFirst = "now_first"

// Event is one domain event. Names are as the coach entered them.
type Event struct {
	Type  Type
	Party actor.Role // guardian or student; empty if the event is about no party
	// GuardianID is the guardian if Party is one.
	GuardianID string

	CoachID, PlayerID, RequestID, SessionID string

	// For TeamMessage and TeamReply; for ProgressAdded and ReportAdded.
	MessageID, RecordID string

	// PartyID is the account of Party. The store sets it if it creates the account in
	// the same transaction.
	PartyID string

	CoachName, StudentName, GuardianName string
	GuardianEmail                        string
	OtherStudents                        []string // for CoachLeft
	FormerCoach                          string   // for CoachChanged and CoachRenaming
	// For GuardianAdded and GuardianRemoved; for GuardiansDisagree. The names are first names.
	OtherName, OtherRelationship string
	Yes, No                      []string
	// BatchNames are the batches that the player is in.
	BatchNames []string

	// Changes are the coach's changes, for Changed.
	Changes []Change

	// For DeliveryFailed.
	Channel string

	// For PendingLong; the first also for UnansweredEnding, with Day.
	Count  int
	Waited time.Duration

	// For CertificateExpiring; Day is YYYY-MM-DD. Title is also for TierApproved and
	// TierRefused.
	DocumentID, Title, Day string

	// For FeeReminded and FeeTold, with Title; the first has Day, too.
	FeeID string

	// AppOnly: no copy leaves the app, because the phone was told before or the person stopped the coach.
	AppOnly bool

	// For the events of trainings.
	Training Training

	// For KYCRejected and TierRefused.
	Reason string
}
