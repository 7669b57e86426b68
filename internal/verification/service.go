// Package verification owns the verification of coaches (KYC): what a coach submits and what operators
// read and decide, with SQL, JSON, pages, templates and texts of both listeners. The state of a coach
// is coach.KYCState, which features below this one use too. Operators cannot change consents, so the
// package does not import approval.
package verification

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// Limits of a submission and of its decision, in items and characters.
const (
	maxDocuments = 10
	maxReason    = 500
)

// decidedReadable is how long operators may read the documents of a decided submission, to answer a
// complaint about the decision.
const decidedReadable = 30 * 24 * time.Hour

// Submission is a coach's request to have their identity verified.
type Submission struct {
	ID      string
	CoachID string
	// CoachName and Number are the coach's current ones, for operators.
	CoachName string
	Number    phone.Number
	// State is Submitted, Verified, Rejected or Withdrawn.
	State coach.KYCState
	// LegalName is encrypted in the database and never logged.
	LegalName string
	// DocumentIDs are its documents that still exist.
	DocumentIDs []string
	// Reason is the reason of a rejection.
	Reason      string
	SubmittedAt time.Time
	DecidedAt   time.Time // zero if undecided
}

// Cursor is a position in the queue.
type Cursor struct {
	At time.Time
	ID string
}

// Service lets coaches submit, and operators decide, a verification.
type Service struct {
	DB        *store.DB
	Coaches   *coach.Service
	Documents *document.Service
	// On is the setting KYC.
	On bool
	// SecurityEvent writes an event of the security log; nil writes none.
	SecurityEvent func(ctx context.Context, name string, attrs ...slog.Attr)
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// NewID returns a new identifier.
func (s *Service) NewID() string { return s.DB.NewID() }

// State returns the caller's KYC state and newest submission.
func (s *Service) State(ctx context.Context, by actor.Actor) (state coach.KYCState, sub Submission, err error) {
	if !s.On {
		return coach.Disabled, sub, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, sub, err = s.read(ctx, tx, by.AccountID)
		return err
	})
	if err != nil {
		return "", sub, fmt.Errorf("read KYC of coach %s: %w", by.AccountID, err)
	}
	return state, sub, nil
}

// Submit submits the caller's legal name and identity documents. Of concurrent requests one succeeds;
// the others get an invalid_transition.
func (s *Service) Submit(ctx context.Context, by actor.Actor, legalName string, documentIDs []string) (coach.KYCState, Submission, error) {
	if !s.On {
		_, err := Next(coach.Disabled, Submit)
		return coach.Disabled, Submission{}, err
	}
	sub := Submission{
		ID: s.NewID(), CoachID: by.AccountID, State: coach.Submitted, LegalName: legalName, DocumentIDs: documentIDs, SubmittedAt: s.Now(),
	}
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: sub.ID, New: true}); err != nil {
			return err
		}
		state, err := lockState(ctx, tx, sub.CoachID)
		if err != nil {
			return err
		}
		shown, err := coach.Shown(ctx, tx, sub.CoachID)
		if err != nil {
			return err
		}
		own, err := identityDocuments(ctx, tx, sub.CoachID, documentIDs)
		if err != nil {
			return err
		}
		if err := checkDocuments(documentIDs, own); err != nil {
			return err
		}
		if err := saveState(ctx, tx, sub.CoachID, state, Submit); err != nil {
			return err
		}
		if err := s.insert(ctx, tx, sub, shown); err != nil {
			return fmt.Errorf("add submission %s: %w", sub.ID, err)
		}
		return coach.ReindexListing(ctx, tx, sub.CoachID)
	})
	return sub.State, sub, err
}

// checkDocuments returns a fault for each id that is not in own.
func checkDocuments(ids, own []string) error {
	var faults []fault.Field
	for i, id := range ids {
		if !slices.Contains(own, id) {
			faults = append(faults, fault.Field{
				Pointer: fmt.Sprintf("/document_ids/%d", i), Code: "unknown_document",
				Detail: "You have no identity document with this id. Upload one with kind identity.",
			})
		}
	}
	return fault.Validation(faults)
}

// Queue returns the undecided submissions, oldest first, without legal names, and audits the access.
func (s *Service) Queue(ctx context.Context, by actor.Operator, after Cursor, limit int) (queue []Submission, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if queue, err = waiting(ctx, tx, after, limit); err != nil {
			return fmt.Errorf("list submissions: %w", err)
		}
		return tx.Record(ctx, by, operator.KYCListed, "queue", "", "")
	})
	return queue, err
}

// Newest returns the id of a coach's newest submission, or not_found.
func (s *Service) Newest(ctx context.Context, coachID string) (string, error) {
	return newest(ctx, s.DB, coachID)
}

// CheckNewest returns request_superseded unless a submission is the coach's newest one, so that
// operators decide only about what they have read. The decision checks again.
func (s *Service) CheckNewest(ctx context.Context, coachID, submissionID string) error {
	return checkNewest(ctx, s.DB, coachID, submissionID)
}

// Read returns a submission and audits the access.
func (s *Service) Read(ctx context.Context, by actor.Operator, id string) (sub Submission, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if sub, err = s.unseal(submission(ctx, tx, byID, id)); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.KYCRead, "coach", sub.CoachID, "submission "+id)
	})
	return sub, err
}

// DocumentsOf returns the documents of a submission, without those that the coach has deleted.
func (s *Service) DocumentsOf(ctx context.Context, sub Submission) ([]coach.Document, error) {
	var documents []coach.Document
	for _, id := range sub.DocumentIDs {
		d, err := s.Documents.Read(ctx, sub.CoachID, id)
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

// OpenDocument returns the content of a document of a coach's submission, while the submission waits
// for a decision and 30 days after a decision, else not_found. The audit log records the read before
// the first byte is sent.
func (s *Service) OpenDocument(ctx context.Context, by actor.Operator, coachID, id string) (*document.Content, error) {
	named, err := naming(ctx, s.DB, id)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(named, func(sub Submission) bool { return sub.CoachID == coachID && sub.readable(s.Now()) }) {
		return nil, fault.Missing()
	}
	content, err := s.Documents.OpenFile(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := s.DB.Operators.Record(ctx, by, operator.DocumentRead, "document", id, "of coach "+coachID); err != nil {
		_ = content.Close() // it was not read
		return nil, err
	}
	return content, nil
}

// readable reports whether operators may read the documents of a submission.
func (s Submission) readable(now time.Time) bool {
	switch s.State {
	case coach.Submitted:
		return true
	case coach.Verified, coach.Rejected:
		return now.Sub(s.DecidedAt) < decidedReadable
	}
	return false
}

// Approve verifies the coach of a submission, if it is the newest.
func (s *Service) Approve(ctx context.Context, by actor.Operator, id string) (Submission, error) {
	return s.decide(ctx, by, id, Approve, "")
}

// Reject rejects a submission, if it is the newest. The coach reads the reason and may submit again.
func (s *Service) Reject(ctx context.Context, by actor.Operator, id, reason string) (Submission, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > maxReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return Submission{}, fault.Validation([]fault.Field{{
			Pointer: "/reason", Code: "invalid_value", Detail: fmt.Sprintf("Give a reason of 1 to %d characters. The coach reads it.", maxReason),
		}})
	}
	return s.decide(ctx, by, id, Reject, reason)
}

// decide carries out an operator's decision. It returns the submission without the legal name, so
// that it needs no master key. Of concurrent decisions and document changes the first wins; the others
// see its result.
func (s *Service) decide(ctx context.Context, by actor.Operator, id string, a Action, reason string) (Submission, error) {
	var decided Submission
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		sub, _, err := submission(ctx, tx, byID, id)
		if err != nil {
			return err
		}
		// If the coach submits again after this read, either the new submission sees the decision, or
		// saveState is stale and this runs again.
		if err := checkNewest(ctx, tx, sub.CoachID, id); err != nil {
			return err
		}
		next, err := Next(sub.State, a)
		if err != nil {
			return err
		}
		// Lock order: coach, then submission, as in the deletion of a document.
		if err := saveState(ctx, tx, sub.CoachID, coach.Submitted, a); err != nil {
			return err
		}
		from := sub.State
		sub.State, sub.Reason, sub.DecidedAt = next, reason, tx.Now
		if err := saveDecision(ctx, tx, sub, from); err != nil {
			return err
		}
		if a == Approve {
			if err := confirmShown(ctx, tx, sub); err != nil {
				return err
			}
		}
		if err := coach.ReindexListing(ctx, tx, sub.CoachID); err != nil {
			return err
		}
		e, action := event.Event{Type: event.KYCVerified, CoachID: sub.CoachID}, operator.KYCApproved
		if a == Reject {
			e.Type, e.Reason, action = event.KYCRejected, reason, operator.KYCRejected
		}
		if err := tx.Record(ctx, by, action, "coach", sub.CoachID, "submission "+id); err != nil {
			return err
		}
		decided = sub
		return notice.Notify(ctx, tx, []event.Event{e})
	})
	if err != nil {
		return Submission{}, err
	}
	if s.SecurityEvent != nil {
		s.SecurityEvent(ctx, "verification_decided", slog.String("operator_id", by.ID), slog.String("account_id", decided.CoachID), slog.String("state", string(decided.State)))
	}
	return decided, nil
}
