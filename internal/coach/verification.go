package coach

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Limits of a submission and of its decision, in items and characters.
const (
	MaxKYCDocuments = 10
	MaxKYCReason    = 500
)

// Submission is a coach's request to have their identity verified.
type Submission struct {
	ID      string
	CoachID string
	// CoachName and Number are the coach's current ones, for operators.
	CoachName string
	Number    phone.Number
	// State is Submitted, Verified, Rejected or Withdrawn.
	State KYCState
	// LegalName is encrypted in the database and never logged.
	LegalName string
	// DocumentIDs are those of its documents that still exist.
	DocumentIDs []string
	// Reason is the reason of a rejection.
	Reason      string
	SubmittedAt time.Time
	DecidedAt   time.Time // zero if undecided
}

// KYCDecision is an operator's decision about a submission.
type KYCDecision struct {
	Action KYCAction // Approve or Reject
	Reason string    // the reason of a rejection
}

// KYCCursor is a position in the queue.
type KYCCursor struct {
	At time.Time
	ID string
}

// VerificationStore stores verifications; package store implements it.
type VerificationStore interface {
	// KYC returns the state of a coach and the newest submission, if there is one.
	KYC(ctx context.Context, coachID string) (KYCState, Submission, error)
	// SubmitKYC saves s. With the coach's row locked it calls documents with the
	// ids of those of its documents that are identity documents of the coach, and
	// then checks the state.
	SubmitKYC(ctx context.Context, s Submission, documents func(own []string) error) error
	// DecideKYC carries out d, notifies the coach and writes the operator's audit
	// log entry in one transaction. It returns the error of CheckNewest if
	// the coach has a newer submission. The result has no legal name.
	DecideKYC(ctx context.Context, by actor.Operator, id string, d KYCDecision) (Submission, error)
	// KYCQueue returns the undecided submissions, oldest first, without legal names, and
	// writes the operator's audit log entry.
	KYCQueue(ctx context.Context, by actor.Operator, after KYCCursor, limit int) ([]Submission, error)
	// NewestKYC returns the id of a coach's newest submission, or not_found.
	NewestKYC(ctx context.Context, coachID string) (string, error)
	// Document returns a document of the coach, or not_found.
	Document(ctx context.Context, coachID, id string) (Document, error)
	// ReadKYC returns a submission and writes the operator's audit log entry.
	ReadKYC(ctx context.Context, by actor.Operator, id string) (Submission, error)
}

// Verifications lets coaches submit, and operators decide, a verification.
type Verifications struct {
	Store VerificationStore
	// On is the setting KYC.
	On    bool
	Now   func() time.Time
	NewID func() string
}

// State returns the caller's KYC state and newest submission.
func (v *Verifications) State(ctx context.Context, by actor.Actor) (KYCState, Submission, error) {
	if !v.On {
		return Disabled, Submission{}, nil
	}
	return v.Store.KYC(ctx, by.AccountID)
}

// Submit submits the caller's legal name and identity documents. Of concurrent
// requests one succeeds; the others get an invalid_transition.
func (v *Verifications) Submit(ctx context.Context, by actor.Actor, legalName string, documentIDs []string) (KYCState, Submission, error) {
	if !v.On {
		_, err := Disabled.Next(Submit)
		return Disabled, Submission{}, err
	}
	s := Submission{
		ID: v.NewID(), CoachID: by.AccountID, State: Submitted, LegalName: legalName, DocumentIDs: documentIDs, SubmittedAt: v.Now(),
	}
	err := v.Store.SubmitKYC(ctx, s, func(own []string) error {
		return unknownDocuments("/document_ids", documentIDs, own)
	})
	return s.State, s, err
}

// unknownDocuments returns a fault for each id that is not in own.
func unknownDocuments(at string, ids, own []string) error {
	known := map[string]bool{}
	for _, id := range own {
		known[id] = true
	}
	var faults []fault.Field
	for i, id := range ids {
		if !known[id] {
			faults = append(faults, fault.Field{
				Pointer: fmt.Sprintf("%s/%d", at, i), Code: "unknown_document",
				Detail: "You have no identity document with this id. Upload one with kind identity.",
			})
		}
	}
	return fault.Validation(faults)
}

// Queue returns the undecided submissions, oldest first, without legal names, and audits
// the access.
func (v *Verifications) Queue(ctx context.Context, by actor.Operator, after KYCCursor, limit int) ([]Submission, error) {
	return v.Store.KYCQueue(ctx, by, after, limit)
}

// Newest returns the id of a coach's newest submission, or not_found.
func (v *Verifications) Newest(ctx context.Context, coachID string) (string, error) {
	return v.Store.NewestKYC(ctx, coachID)
}

// CheckNewest returns request_superseded unless a submission is the coach's newest one, so that
// operators decide only about what they have read. The decision checks again.
func (v *Verifications) CheckNewest(ctx context.Context, coachID, submissionID string) error {
	newest, err := v.Newest(ctx, coachID)
	if err != nil {
		return err
	}
	return CheckNewest(submissionID, newest)
}

// Read returns a submission and audits the access.
func (v *Verifications) Read(ctx context.Context, by actor.Operator, id string) (Submission, error) {
	return v.Store.ReadKYC(ctx, by, id)
}

// Documents returns the documents of a submission, without those that the coach has deleted.
func (v *Verifications) Documents(ctx context.Context, s Submission) ([]Document, error) {
	var documents []Document
	for _, id := range s.DocumentIDs {
		d, err := v.Store.Document(ctx, s.CoachID, id)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, d)
	}
	return documents, nil
}

// CheckNewest refuses a decision about a submission that is not the coach's newest one.
func CheckNewest(submissionID, newest string) error {
	if submissionID == newest {
		return nil
	}
	return fault.New(fault.Conflict, "request_superseded", "The coach has a newer submission: %s. Read it and decide about it.", newest).With("request_id", newest)
}

// Approve verifies the coach of a submission, if it is the newest.
func (v *Verifications) Approve(ctx context.Context, by actor.Operator, id string) (Submission, error) {
	return v.Store.DecideKYC(ctx, by, id, KYCDecision{Action: Approve})
}

// Reject rejects a submission, if it is the newest. The coach reads the reason and
// may submit again.
func (v *Verifications) Reject(ctx context.Context, by actor.Operator, id, reason string) (Submission, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxKYCReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return Submission{}, fault.Validation([]fault.Field{{
			Pointer: "/reason", Code: "invalid_value", Detail: fmt.Sprintf("Give a reason of 1 to %d characters. The coach reads it.", MaxKYCReason),
		}})
	}
	return v.Store.DecideKYC(ctx, by, id, KYCDecision{Action: Reject, Reason: reason})
}

// Event returns the event that notifies the coach.
func (d KYCDecision) Event(coachID string) event.Event {
	e := event.Event{Type: event.KYCVerified, CoachID: coachID}
	if d.Action == Reject {
		e.Type, e.Reason = event.KYCRejected, d.Reason
	}
	return e
}
