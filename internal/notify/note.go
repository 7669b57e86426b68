// Package notify owns what people are told: the kinds of notifications, who gets
// which for a fact of the domain, and their words, in the tray and by SMS. When
// they are written is the store's matter (with the fact, in one transaction);
// how they leave is the worker's.
package notify

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
)

// Type names a kind of notification on the wire.
type Type string

// The kinds: those of the spec's section 6, then those that the contract's
// section 5 and we add.
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
	DeliveryFailed  Type = "delivery_failed"
	SecurityNotice  Type = "security_notice"

	// PlayerChanged and PlayerRemoved tell those who had approved.
	PlayerChanged Type = "player_changed"
	PlayerRemoved Type = "player_removed"
	// CoachLeft tells those who had approved that the coach closed their account.
	CoachLeft Type = "coach_left"

	CertificateExpiring Type = "certificate_expiring"

	KYCVerified Type = "kyc_verified"
	KYCRejected Type = "kyc_rejected"
)

// Data are the ids that a notification is about; empty ones are left out.
type Data struct {
	PlayerID  string `json:"player_id,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	CoachID   string `json:"coach_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Count     int    `json:"count,omitempty"`

	DocumentID string `json:"document_id,omitempty"`
}

// Note is one notification that is to be written.
type Note struct {
	// To is the role in which the recipient gets it; AccountID is the recipient.
	To        actor.Role
	AccountID string
	Type      Type
	Title     string
	Body      string
	Data      Data
	// BySMS says that Body goes to the recipient's number too, as a Notice: it may
	// be the last that they hear, and nobody signs in to a role that is over.
	BySMS bool
}

// Notification is one that was written.
type Notification struct {
	ID string
	// Seq counts an account's notifications from 1, in the order of their
	// commits.
	Seq       int64
	Type      Type
	Title     string
	Body      string
	Data      Data
	CreatedAt time.Time
	ReadAt    time.Time // zero while unread
}
