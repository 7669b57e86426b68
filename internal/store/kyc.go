package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
)

var _ coach.VerificationStore = (*DB)(nil)

// KYC returns the state of a coach and the newest submission, if there is one.
func (db *DB) KYC(ctx context.Context, coachID string) (coach.KYCState, coach.Submission, error) {
	var state coach.KYCState
	var s coach.Submission
	err := db.View(ctx, func(tx *Tx) error {
		err := tx.QueryRow(ctx, `SELECT kyc_state FROM coaches WHERE id = $1`, coachID).Scan(&state)
		if database.IsNoRows(err) {
			return auth.ErrSessionEnded() // the account has closed since the session was read
		}
		if err != nil || state == coach.NotStarted {
			return err
		}
		s, err = tx.unsealSubmission(tx.submission(ctx, tx.QueryRow(ctx, submissionSelect+`
			WHERE s.coach_id = $1 ORDER BY s.id DESC LIMIT 1`, coachID)))
		return err
	})
	if err != nil {
		return "", s, fmt.Errorf("read KYC of coach %s: %w", coachID, err)
	}
	return state, s, nil
}

const submissionSelect = `
	SELECT s.id, s.coach_id, c.name, a.mobile_number, s.state, s.legal_name, s.reason, s.submitted_at, s.decided_at
	FROM kyc_submissions s JOIN coaches c ON c.id = s.coach_id JOIN accounts a ON a.id = s.coach_id `

// unsealSubmission decrypts the legal name of a submission.
func (tx *Tx) unsealSubmission(s coach.Submission, sealed []byte, err error) (coach.Submission, error) {
	if err != nil {
		return s, err
	}
	if s.LegalName, err = tx.db.Unseal(auth.ForKYC, sealed, s.ID); err != nil {
		return s, fmt.Errorf("unseal submission %s: %w", s.ID, err)
	}
	return s, nil
}

// submission reads a submission with its documents and the sealed legal name, or
// returns not_found.
func (tx *Tx) submission(ctx context.Context, r *database.Row) (coach.Submission, []byte, error) {
	s, sealed, err := scanSubmission(r)
	if database.IsNoRows(err) {
		return s, nil, fault.Missing()
	}
	if err != nil {
		return s, nil, err
	}
	rs, err := tx.Query(ctx, `
		SELECT d.id FROM kyc_documents k JOIN documents d ON d.id = k.document_id
		WHERE k.submission_id = $1 ORDER BY d.id`, s.ID)
	s.DocumentIDs, err = database.CollectTexts(rs, err)
	return s, sealed, err
}

func scanSubmission(r database.Scanner) (s coach.Submission, sealed []byte, err error) {
	err = r.Scan(&s.ID, &s.CoachID, database.IntoText(&s.CoachName), &s.Number, &s.State, &sealed, database.IntoText(&s.Reason),
		database.IntoTime(&s.SubmittedAt), database.IntoTime(&s.DecidedAt))
	return s, sealed, err
}

// SubmitKYC saves s, if documents accepts its identity documents and the state allows it.
func (db *DB) SubmitKYC(ctx context.Context, s coach.Submission, documents func(own []string) error) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: s.ID, New: true}); err != nil {
			return err
		}
		// Lock the coach's row without changing it: concurrent submissions and document
		// changes wait until the commit.
		var state coach.KYCState
		err := tx.QueryRow(ctx, `UPDATE coaches SET version = version WHERE id = $1 RETURNING kyc_state`, s.CoachID).Scan(&state)
		if database.IsNoRows(err) {
			return auth.ErrSessionEnded() // the account has closed since the session was read
		}
		if err != nil {
			return fmt.Errorf("lock coach %s: %w", s.CoachID, err)
		}
		own, err := tx.identityDocuments(ctx, s.CoachID, s.DocumentIDs)
		if err != nil {
			return err
		}
		if err := documents(own); err != nil {
			return err
		}
		if err := tx.updateKYCState(ctx, s.CoachID, state, coach.Submit); err != nil {
			return err
		}
		if err := tx.insertSubmission(ctx, s); err != nil {
			return fmt.Errorf("add submission %s: %w", s.ID, err)
		}
		return tx.ReindexListing(ctx, s.CoachID)
	})
}

// identityDocuments returns those of ids that are identity documents of the coach.
func (tx *Tx) identityDocuments(ctx context.Context, coachID string, ids []string) ([]string, error) {
	args := append([]any{coachID}, database.TextArgs(ids)...)
	rs, err := tx.Query(ctx, `
		SELECT id FROM documents WHERE coach_id = $1 AND kind = 'identity' AND id IN (`+database.Params(2, len(ids))+`)`, args...)
	return database.CollectTexts(rs, err)
}

func (tx *Tx) insertSubmission(ctx context.Context, s coach.Submission) error {
	sealed, err := tx.db.Seal(auth.ForKYC, s.LegalName, s.ID)
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		INSERT INTO kyc_submissions (id, coach_id, state, legal_name, submitted_at) VALUES ($1, $2, $3, $4, $5)`,
		s.ID, s.CoachID, string(s.State), sealed, database.Micros(s.SubmittedAt))
	if err != nil {
		return err
	}
	var args []any
	for _, id := range s.DocumentIDs {
		args = append(args, s.ID, id)
	}
	err = tx.Defer(ctx, `INSERT INTO kyc_documents (submission_id, document_id) VALUES `+database.RowsOf(len(s.DocumentIDs), 2), args...)
	return err
}

// updateKYCState applies an action to the coach's state; ErrStale if the state is
// no longer from.
func (tx *Tx) updateKYCState(ctx context.Context, coachID string, from coach.KYCState, action coach.KYCAction) error {
	next, err := from.Next(action)
	if err != nil {
		return err
	}
	return tx.ExecOne(ctx, `UPDATE coaches SET kyc_state = $3 WHERE id = $1 AND kyc_state = $2`, coachID, string(from), string(next))
}

// DecideKYC carries out an operator's decision. It returns the submission without
// the legal name, so that it needs no master key. Of concurrent decisions and
// document changes the first wins; the others see its result.
func (db *DB) DecideKYC(ctx context.Context, by actor.Operator, id string, d coach.KYCDecision) (coach.Submission, error) {
	var decided coach.Submission
	err := db.Write(ctx, func(tx *Tx) error {
		s, _, err := tx.submission(ctx, tx.QueryRow(ctx, submissionSelect+`WHERE s.id = $1`, id))
		if err != nil {
			return err
		}
		// If the coach submits again after this read, either the new submission sees the
		// decision, or updateKYCState is stale and this runs again.
		newest, err := newestKYC(ctx, tx, s.CoachID)
		if err == nil {
			err = coach.CheckNewest(id, newest)
		}
		if err != nil {
			return err
		}
		next, err := s.State.Next(d.Action)
		if err != nil {
			return err
		}
		// Lock order: coach, then submission, as in the deletion of a document.
		if err := tx.updateKYCState(ctx, s.CoachID, coach.Submitted, d.Action); err != nil {
			return err
		}
		err = tx.ExecOne(ctx, `
			UPDATE kyc_submissions SET state = $3, reason = $4, decided_at = $5 WHERE id = $1 AND state = $2`,
			id, string(s.State), string(next), database.Text(d.Reason), database.Micros(tx.Now))
		if err != nil {
			return err
		}
		if err := tx.ReindexListing(ctx, s.CoachID); err != nil {
			return err
		}
		if err := tx.Record(ctx, by, kycAuditActions[d.Action], "coach", s.CoachID, "submission "+id); err != nil {
			return err
		}
		s.State, s.Reason, s.DecidedAt = next, d.Reason, tx.Now
		decided = s
		return tx.Notify(ctx, []event.Event{d.Event(s.CoachID)})
	})
	if err != nil {
		return coach.Submission{}, err
	}
	return decided, nil
}

var kycAuditActions = map[coach.KYCAction]string{coach.Approve: operator.KYCApproved, coach.Reject: operator.KYCRejected}

// KYCQueue returns the undecided submissions, oldest first, without legal names, and
// audits the access.
func (db *DB) KYCQueue(ctx context.Context, by actor.Operator, after coach.KYCCursor, limit int) ([]coach.Submission, error) {
	var queue []coach.Submission
	err := db.Write(ctx, func(tx *Tx) error {
		rs, err := tx.Query(ctx, submissionSelect+`
			WHERE s.state = 'submitted' AND (s.submitted_at, s.id) > ($1, $2)
			ORDER BY s.submitted_at, s.id LIMIT $3`, after.At.UnixMicro(), after.ID, limit)
		queue, err = database.Collect(rs, err, func(r database.Scanner) (coach.Submission, error) {
			s, _, err := scanSubmission(r)
			return s, err
		})
		if err != nil {
			return fmt.Errorf("list submissions: %w", err)
		}
		return tx.Record(ctx, by, operator.KYCListed, "queue", "", "")
	})
	return queue, err
}

// DocumentSubmissions returns the submissions that name a document, without legal names.
func (db *DB) DocumentSubmissions(ctx context.Context, documentID string) ([]coach.Submission, error) {
	rs, err := db.sql.Query(ctx, submissionSelect+`
		WHERE s.id IN (SELECT submission_id FROM kyc_documents WHERE document_id = $1)`, documentID)
	return database.Collect(rs, err, func(r database.Scanner) (coach.Submission, error) {
		s, _, err := scanSubmission(r)
		return s, err
	})
}

// NewestKYC returns the id of a coach's newest submission, or not_found.
func (db *DB) NewestKYC(ctx context.Context, coachID string) (string, error) {
	return newestKYC(ctx, db.sql, coachID)
}

func newestKYC(ctx context.Context, q database.Querier, coachID string) (id string, err error) {
	err = q.QueryRow(ctx, `SELECT id FROM kyc_submissions WHERE coach_id = $1 ORDER BY id DESC LIMIT 1`, coachID).Scan(&id)
	if database.IsNoRows(err) {
		err = fault.Missing()
	}
	return id, err
}

// ReadKYC returns a submission and audits the access.
func (db *DB) ReadKYC(ctx context.Context, by actor.Operator, id string) (coach.Submission, error) {
	var s coach.Submission
	err := db.Write(ctx, func(tx *Tx) (err error) {
		if s, err = tx.unsealSubmission(tx.submission(ctx, tx.QueryRow(ctx, submissionSelect+`WHERE s.id = $1`, id))); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.KYCRead, "coach", s.CoachID, "submission "+id)
	})
	return s, err
}
