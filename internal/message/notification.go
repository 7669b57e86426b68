// Package message owns how anything reaches a person: deliveries and their wording on each
// channel, preferences, and notifications in the app. The store writes them in the
// transaction of the event; the worker sends what leaves the service.
package message

import (
	"cmp"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// Type is the type of a notification on the wire.
type Type string

// The types: first the types of the spec's section 6.
const (
	GuardianApproved          Type = "guardian_approved"
	GuardianRejected          Type = "guardian_rejected"
	StudentApproved           Type = "student_approved"
	StudentRejected           Type = "student_rejected"
	PendingReminder           Type = "pending_reminder"
	GuardianRequest           Type = "guardian_request"
	GuardianApprovalConfirmed Type = "guardian_approval_confirmed"
	GuardianRejectConfirmed   Type = "guardian_rejection_confirmed"
	StudentRequest            Type = "student_request"
	StudentApprovalConfirmed  Type = "student_approval_confirmed"
	StudentRejectConfirmed    Type = "student_rejection_confirmed"

	GuardianRevoked Type = "guardian_revoked"
	StudentRevoked  Type = "student_revoked"
	RequestReminder Type = "request_reminder"
	RequestDisputed Type = "request_disputed"
	DisputeLifted   Type = "dispute_lifted"
	DeliveryFailed  Type = "delivery_failed"
	SecurityNotice  Type = "security_notice"

	// PlayerChanged and PlayerRemoved go to parties that had approved.
	PlayerChanged Type = "player_changed"
	PlayerRemoved Type = "player_removed"
	// CoachRenamed goes to parties that had approved: the coach has another name or picture.
	CoachRenamed Type = "coach_renamed"
	// CoachRenaming goes to parties that had approved: the coach wants another name.
	CoachRenaming Type = "coach_renaming"
	// CoachLeft goes to parties that had approved: the coach closed the account.
	CoachLeft Type = "coach_left"

	// TurningAdult and TurnedAdult go to both parties of a student who becomes 18; TurnedAdult also
	// to a coach whose student has to answer.
	TurningAdult Type = "turning_18_soon"
	TurnedAdult  Type = "turned_18"
	// GuardianViewEnded goes to the coach.
	GuardianViewEnded Type = "guardian_view_ended"

	// GuardianAdded and GuardianRemoved go to the other guardians who have approved, GuardianAdded also to an adult student. GuardianConflict goes to the coach.
	GuardianAdded    Type = "guardian_added"
	GuardianRemoved  Type = "guardian_removed"
	GuardianConflict Type = "guardian_conflict"

	// SecondMessage goes to a guardian some time after a yes.
	SecondMessage Type = "second_message"
	// ProofEnding goes to a guardian, ProofEnded also to the coach: the proof that the guardian is an adult.
	ProofEnding Type = "proof_ending"
	ProofEnded  Type = "proof_ended"

	// GuardianLeft and StudentLeft go to the coach: the party deleted the account.
	GuardianLeft Type = "guardian_left"
	StudentLeft  Type = "student_left"
	// PlayerErased goes to the coach.
	PlayerErased Type = "player_erased"
	// UnansweredEnding goes to the coach.
	UnansweredEnding Type = "unanswered_ending"

	CertificateExpiring Type = "certificate_expiring"

	// FeeReminder goes to parties that have the service fee_reminders.
	FeeReminder Type = "fee_reminder"
	// FeeTold goes to a coach: a party said that it has paid a fee.
	FeeTold Type = "fee_told"
	// TeamMessageType goes to a party, TeamReplyType to a coach.
	TeamMessageType Type = "team_message"
	TeamReplyType   Type = "team_reply"
	// ProgressUpdate and PerformanceReport go to parties that have these services.
	ProgressUpdate    Type = "progress_update"
	PerformanceReport Type = "performance_report"

	// These go to parties that see the trainings of the player.
	TrainingAdded     Type = "training_added"
	TrainingChanged   Type = "training_changed"
	TrainingCancelled Type = "training_cancelled"
	TrainingRestored  Type = "training_restored"
	TrainingAsked     Type = "training_asked"

	KYCVerified Type = "kyc_verified"
	// NameConfirmed and NameRefused go to a coach.
	NameConfirmed Type = "name_confirmed"
	NameRefused   Type = "name_refused"
	KYCRejected   Type = "kyc_rejected"

	// TierApproved and TierRefused go to a coach who asked for a tier.
	TierApproved Type = "tier_approved"
	TierRefused  Type = "tier_refused"
)

// ofReceipt reports whether t tells a party of its decision, for which it has a receipt. A coach gets the types of a revocation, too.
func (t Type) ofReceipt() bool {
	return slices.Contains([]Type{
		GuardianApprovalConfirmed, GuardianRejectConfirmed, GuardianRevoked, StudentApprovalConfirmed, StudentRejectConfirmed, StudentRevoked,
	}, t)
}

// Answerable reports whether copies have a link with which the recipient says whether the player comes.
func (t Type) Answerable() bool { return t.OfTraining() && t != TrainingCancelled }

// OfTraining reports whether t is about a training.
func (t Type) OfTraining() bool {
	return slices.Contains([]Type{TrainingAdded, TrainingChanged, TrainingCancelled, TrainingRestored, TrainingAsked}, t)
}

// OfServices are the types that a party gets only while it has approved. They are deleted
// when its approval ends.
var OfServices = []Type{FeeReminder, TeamMessageType, ProgressUpdate, PerformanceReport, TrainingAdded, TrainingChanged, TrainingCancelled, TrainingRestored, TrainingAsked}

// Data identifies what a notification is about. Empty fields are omitted.
type Data struct {
	PlayerID  string `json:"player_id,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	CoachID   string `json:"coach_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Count     int    `json:"count,omitempty"`

	DocumentID string `json:"document_id,omitempty"`
	FeeID      string `json:"fee_id,omitempty"`

	// MessageID is a message of the coach, or a reply; RecordID a measurement or a report.
	MessageID string `json:"message_id,omitempty"`
	RecordID  string `json:"record_id,omitempty"`

	TrainingID string `json:"training_id,omitempty"`

	// Changes are the coach's changes of the student.
	Changes []event.Change `json:"changes,omitempty"`

	// Words are values from which pages word the notification in another language. The API
	// does not return them; its clients have title and body.
	Words Words `json:"words,omitzero"`
}

// Words are the parts of a text that cannot be read by an id of Data.
type Words struct {
	// Language is the language of the stored text.
	Language string `json:"language,omitempty"`
	// Event is what happened, and Party whom it is about.
	Event event.Type `json:"event,omitempty"`
	Party actor.Role `json:"party,omitempty"`
	// Title is the title of a certificate, tier or fee. Day is YYYY-MM-DD.
	Title  string `json:"title,omitempty"`
	Day    string `json:"day,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Training is what a notification of a training is about.
	Training event.Training `json:"training,omitzero"`
	// Channel is where a message failed.
	Channel string `json:"channel,omitempty"`
	// Batches are the batches that a request names.
	Batches []string `json:"batches,omitempty"`
	// Waited is how long requests have been pending.
	Waited time.Duration `json:"waited,omitempty"`
	// Coach and FormerCoach are the new and the former name of a coach.
	Coach       string `json:"coach,omitempty"`
	FormerCoach string `json:"former_coach,omitempty"`
	// GuardianID is the guardian whom it is about. Other and OtherIs are the first name and the relationship of another
	// one. Yes and No are the first names of guardians who disagree.
	GuardianID string   `json:"guardian_id,omitempty"`
	Other      string   `json:"other,omitempty"`
	OtherIs    string   `json:"other_is,omitempty"`
	Yes        []string `json:"yes,omitempty"`
	No         []string `json:"no,omitempty"`
}

// Draft is a notification that is not stored yet.
type Draft struct {
	// To is the role in which the account receives it.
	To        actor.Role
	AccountID string
	Type      Type
	Title     string
	Body      string
	Data      Data
	// Channels also carry the notification outside of the app, where they reach the
	// recipient.
	Channels []Channel
	// Email is the address that the event names, or empty.
	Email string
	// event and brand are for the text in another language.
	event event.Event
	brand string
}

// In returns the draft in a language, or in the default one.
func (d Draft) In(language string) Draft {
	language = textsIn(language).language
	if language != d.Data.Words.Language {
		d.Title, d.Body = wording(language, d.To, d.Type, d.event, d.brand)
		d.Data.Words.Language = language
	}
	return d
}

// Names are the names of today in the text of a notification. Empty ones are left out.
type Names struct{ Coach, Student, Guardian string }

// In returns the text of a notification for the role to in a language. It returns "" for an older one
// without Words.
func (n Notification) In(language string, to actor.Role, names Names, brand string) (title, body string) {
	w := n.Data.Words
	if w.Event == "" {
		return "", ""
	}
	return wording(language, to, n.Type, event.Event{
		Type: w.Event, Party: w.Party, CoachName: cmp.Or(w.Coach, names.Coach), FormerCoach: w.FormerCoach, StudentName: names.Student, GuardianName: names.Guardian,
		BatchNames: w.Batches, Changes: n.Data.Changes, Channel: w.Channel, Count: n.Data.Count, Waited: w.Waited,
		Title: w.Title, Day: w.Day, Reason: w.Reason, Training: w.Training,
		OtherName: w.Other, OtherRelationship: w.OtherIs, Yes: w.Yes, No: w.No,
	}, brand)
}

// CountedFor returns the coach whose message limits count copies of the draft, or "". A coach
// who left has none, and mail to a coach must not use up what may go to families.
func (d Draft) CountedFor() string {
	if d.Type == CoachLeft || d.To == actor.Coach {
		return ""
	}
	return d.Data.CoachID
}

// Notification is a notification in an account's tray.
type Notification struct {
	ID string
	// Seq numbers an account's notifications from 1, in commit order.
	Seq       int64
	Type      Type
	Title     string
	Body      string
	Data      Data
	CreatedAt time.Time
	ReadAt    time.Time // zero while unread
}
