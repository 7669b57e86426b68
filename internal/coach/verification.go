package coach

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// The bounds of a submission and of its decision (contract section 3), in
// characters and items.
const (
	MaxLegalName    = 100
	MaxKYCDocuments = 10
	MaxKYCReason    = 500
)

// Submission is what a coach hands in to have their identity verified.
type Submission struct {
	ID      string
	CoachID string
	// CoachName and Number are the coach's as they are now; for operators.
	CoachName string
	Number    phone.Number
	// State is Submitted, Verified, Rejected or Withdrawn.
	State KYCState
	// LegalName is sealed at rest and never logged.
	LegalName string
	// DocumentIDs are those of its documents that are there still.
	DocumentIDs []string
	// Reason is why it was rejected.
	Reason      string
	SubmittedAt time.Time
	DecidedAt   time.Time // zero while it waits
}

// Verdict is an operator's decision about a submission.
type KYCDecision struct {
	Action KYCAction // Approve or Reject
	Reason string    // of a rejection
}

// Queued is where a page of the queue ended.
type KYCCursor struct {
	At time.Time
	ID string
}

// VerificationStore is what verification needs kept; package store provides it.
type VerificationStore interface {
	// KYC returns where a coach's verification stands and, unless it has not
	// started, the newest submission.
	KYC(ctx context.Context, coachID string) (KYCState, Submission, error)
	// SubmitKYC keeps s. It judges, with the coach's row locked, first the ids of
	// the coach's own identity documents that s names, then the state.
	SubmitKYC(ctx context.Context, s Submission, documents func(own []string) error) error
	// DecideKYC carries out v, tells the coach and writes by's entry of the audit
	// log, all or nothing; ErrSuperseded where the coach has handed in another
	// submission since. What it returns is without the legal name.
	DecideKYC(ctx context.Context, by actor.Operator, id string, v KYCDecision) (Submission, error)
	// KYCQueue lists the submissions that wait, oldest first, without legal names.
	KYCQueue(ctx context.Context, after KYCCursor, limit int) ([]Submission, error)
	// NewestKYC returns the id of a coach's newest submission; not_found where there
	// is none.
	NewestKYC(ctx context.Context, coachID string) (string, error)
	// ReadKYC returns a submission and writes by's entry of the audit log.
	ReadKYC(ctx context.Context, by actor.Operator, id string) (Submission, error)
}

// Verifications carries out what coaches and operators ask of verification.
type Verifications struct {
	Store VerificationStore
	// On is the setting KYC.
	On    bool
	Now   func() time.Time
	NewID func() string
}

// State returns where the caller's own verification stands, and the newest
// submission.
func (v *Verifications) State(ctx context.Context, by actor.Actor) (KYCState, Submission, error) {
	if !v.On {
		return Disabled, Submission{}, nil
	}
	return v.Store.KYC(ctx, by.AccountID)
}

// Submit hands in the caller's legal name and identity documents. Rivals have one
// winner; the others see the state that it left.
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

// unknownDocuments names those of ids that are not among own.
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
				Detail: "You have no identity document with this id; upload one with kind identity.",
			})
		}
	}
	return fault.Validation(faults)
}

// Queue lists the submissions that wait for a decision, oldest first, without the
// legal names.
func (v *Verifications) Queue(ctx context.Context, after KYCCursor, limit int) ([]Submission, error) {
	return v.Store.KYCQueue(ctx, after, limit)
}

// Newest returns the id of a coach's newest submission.
func (v *Verifications) Newest(ctx context.Context, coachID string) (string, error) {
	return v.Store.NewestKYC(ctx, coachID)
}

// Read returns a submission to an operator; that they read it is recorded.
func (v *Verifications) Read(ctx context.Context, by actor.Operator, id string) (Submission, error) {
	return v.Store.ReadKYC(ctx, by, id)
}

// ErrSuperseded refuses a verdict about another submission than the coach's newest,
// which has the id.
func ErrSuperseded(newest string) error {
	return fault.New(fault.Conflict, "request_superseded", "The coach's newest submission is another one, %s. Read that and decide about it.", newest).With("request_id", newest)
}

// Approve verifies the coach who handed in a submission, if it is the newest.
func (v *Verifications) Approve(ctx context.Context, by actor.Operator, id string) (Submission, error) {
	return v.Store.DecideKYC(ctx, by, id, KYCDecision{Action: Approve})
}

// Reject refuses a submission, if it is the newest, for a reason, which the coach
// reads. The coach may submit again.
func (v *Verifications) Reject(ctx context.Context, by actor.Operator, id, reason string) (Submission, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxKYCReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return Submission{}, fault.Validation([]fault.Field{{
			Pointer: "/reason", Code: "invalid_value", Detail: fmt.Sprintf("Say in 1 to %d characters why; the coach reads it.", MaxKYCReason),
		}})
	}
	return v.Store.DecideKYC(ctx, by, id, KYCDecision{Action: Reject, Reason: reason})
}

// Fact is what the coach is told of the verdict.
func (d KYCDecision) Event(coachID string) event.Event {
	e := event.Event{Type: event.KYCVerified, CoachID: coachID}
	if d.Action == Reject {
		e.Type, e.Reason = event.KYCRejected, d.Reason
	}
	return e
}
