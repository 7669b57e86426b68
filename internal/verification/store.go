package verification

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

const selectSubmissions = `
	SELECT s.id, s.coach_id, c.name, a.mobile_number, s.state, s.legal_name, s.reason, s.submitted_at, s.decided_at
	FROM kyc_submissions s JOIN coaches c ON c.id = s.coach_id JOIN accounts a ON a.id = s.coach_id `

// The submissions that submission reads.
const (
	byID          = selectSubmissions + `WHERE s.id = $1`
	newestOfCoach = selectSubmissions + `WHERE s.coach_id = $1 ORDER BY s.id DESC LIMIT 1`
)

// scan reads a row of selectSubmissions. The legal name is still encrypted.
func scan(r database.Scanner) (s Submission, sealed []byte, err error) {
	err = r.Scan(&s.ID, &s.CoachID, database.IntoText(&s.CoachName), &s.Number, &s.State, &sealed, database.IntoText(&s.Reason),
		database.IntoTime(&s.SubmittedAt), database.IntoTime(&s.DecidedAt))
	return s, sealed, err
}

// scanNameless is scan without the legal name.
func scanNameless(r database.Scanner) (Submission, error) {
	s, _, err := scan(r)
	return s, err
}

// submission returns the submission of a query with its documents and the encrypted legal name, or
// not_found.
func submission(ctx context.Context, tx *store.Tx, query, id string) (Submission, []byte, error) {
	s, sealed, err := scan(tx.QueryRow(ctx, query, id))
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

// unseal decrypts the legal name of a submission.
func (s *Service) unseal(sub Submission, sealed []byte, err error) (Submission, error) {
	if err != nil {
		return sub, err
	}
	if sub.LegalName, err = s.DB.Unseal(vault.ForKYC, sealed, sub.ID); err != nil {
		return sub, fmt.Errorf("unseal submission %s: %w", sub.ID, err)
	}
	return sub, nil
}

// read returns the state of a coach and the newest submission, if there is one.
func (s *Service) read(ctx context.Context, tx *store.Tx, coachID string) (state coach.KYCState, sub Submission, err error) {
	err = tx.QueryRow(ctx, `SELECT kyc_state FROM coaches WHERE id = $1`, coachID).Scan(&state)
	if database.IsNoRows(err) {
		err = fault.SessionEnded() // the account has closed since the session was read
	}
	if err != nil || state == coach.NotStarted {
		return state, sub, err
	}
	sub, err = s.unseal(submission(ctx, tx, newestOfCoach, coachID))
	return state, sub, err
}

// lockState locks the coach's row without changing it: concurrent submissions and changes of documents
// wait until the commit.
func lockState(ctx context.Context, tx *store.Tx, coachID string) (state coach.KYCState, err error) {
	err = tx.QueryRow(ctx, `UPDATE coaches SET version = version WHERE id = $1 RETURNING kyc_state`, coachID).Scan(&state)
	if database.IsNoRows(err) {
		return "", fault.SessionEnded()
	}
	if err != nil {
		err = fmt.Errorf("lock coach %s: %w", coachID, err)
	}
	return state, err
}

// saveState applies an action to the coach's state. It is stale if the state is no longer from.
func saveState(ctx context.Context, tx *store.Tx, coachID string, from coach.KYCState, a Action) error {
	next, err := Next(from, a)
	if err != nil {
		return err
	}
	return tx.ExecOne(ctx, `UPDATE coaches SET kyc_state = $3 WHERE id = $1 AND kyc_state = $2`, coachID, string(from), string(next))
}

// identityDocuments returns the ids of identity documents of the coach.
func identityDocuments(ctx context.Context, tx *store.Tx, coachID string, ids []string) ([]string, error) {
	args := append([]any{coachID}, database.PaddedIDs(ids)...)
	rs, err := tx.Query(ctx, `
		SELECT id FROM documents WHERE coach_id = $1 AND kind = 'identity' AND id IN (`+database.Params(2, len(args)-1)+`)`, args...)
	return database.CollectTexts(rs, err)
}

// insert adds a submission. shown is what the operator compares with the documents.
func (s *Service) insert(ctx context.Context, tx *store.Tx, sub Submission, shown store.CoachShown) error {
	sealed, err := s.DB.Seal(vault.ForKYC, sub.LegalName, sub.ID)
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		INSERT INTO kyc_submissions (id, coach_id, state, legal_name, submitted_at, shown_name, shown_picture) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		sub.ID, sub.CoachID, string(sub.State), sealed, database.Micros(sub.SubmittedAt), database.Text(shown.Name), database.Text(shown.PictureHash))
	if err != nil {
		return err
	}
	var args []any
	for _, id := range sub.DocumentIDs {
		args = append(args, sub.ID, id)
	}
	return tx.InsertRows(ctx, `INSERT INTO kyc_documents (submission_id, document_id)`, "", 2, args)
}

// confirmShown confirms the name and the picture that the profile had when the coach submitted. Others that came later
// wait for an operator.
func confirmShown(ctx context.Context, tx *store.Tx, s Submission) error {
	err := tx.Defer(ctx, `
		UPDATE coaches SET confirmed_name = (SELECT s.shown_name FROM kyc_submissions s WHERE s.id = $2),
			confirmed_picture = (SELECT s.shown_picture FROM kyc_submissions s WHERE s.id = $2)
		WHERE id = $1`, s.CoachID, s.ID)
	return fault.Wrap(err, "confirm the name of coach %s", s.CoachID)
}

// saveDecision saves a decided submission, whose state was from.
func saveDecision(ctx context.Context, tx *store.Tx, s Submission, from coach.KYCState) error {
	return tx.ExecOne(ctx, `
		UPDATE kyc_submissions SET state = $3, reason = $4, decided_at = $5 WHERE id = $1 AND state = $2`,
		s.ID, string(from), string(s.State), database.Text(s.Reason), database.Micros(s.DecidedAt))
}

// waiting returns the undecided submissions after a position, oldest first.
func waiting(ctx context.Context, tx *store.Tx, after Cursor, limit int) ([]Submission, error) {
	rs, err := tx.Query(ctx, selectSubmissions+`
		WHERE s.state = 'submitted' AND (s.submitted_at, s.id) > ($1, $2)
		ORDER BY s.submitted_at, s.id LIMIT $3`, after.At.UnixMicro(), after.ID, limit)
	return database.Collect(rs, err, scanNameless)
}

// naming returns the submissions that name a document.
func naming(ctx context.Context, q database.Querier, documentID string) ([]Submission, error) {
	rs, err := q.Query(ctx, selectSubmissions+`
		WHERE s.id IN (SELECT submission_id FROM kyc_documents WHERE document_id = $1)`, documentID)
	return database.Collect(rs, err, scanNameless)
}

// newest returns the id of a coach's newest submission, or not_found.
func newest(ctx context.Context, q database.Querier, coachID string) (id string, err error) {
	err = q.QueryRow(ctx, `SELECT id FROM kyc_submissions WHERE coach_id = $1 ORDER BY id DESC LIMIT 1`, coachID).Scan(&id)
	if database.IsNoRows(err) {
		err = fault.Missing()
	}
	return id, err
}

// checkNewest refuses a decision about a submission that is not the coach's newest one.
func checkNewest(ctx context.Context, q database.Querier, coachID, submissionID string) error {
	id, err := newest(ctx, q, coachID)
	if err != nil || submissionID == id {
		return err
	}
	return fault.New(fault.Conflict, "request_superseded", "The coach has a newer submission: %s. Read it and decide about it.", id).With("request_id", id)
}

// WithdrawDocument withdraws the coach's undecided submission that contains a document, because an
// operator could no longer check it. It reports whether there was one. An earlier decision stands.
func WithdrawDocument(ctx context.Context, tx *store.Tx, coachID, documentID string) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE kyc_submissions SET state = 'withdrawn', decided_at = $3
		WHERE coach_id = $1 AND state = 'submitted'
			AND id IN (SELECT submission_id FROM kyc_documents WHERE document_id = $2)`, coachID, documentID, database.Micros(tx.Now))
	if err != nil || n == 0 {
		return false, err
	}
	err = tx.Defer(ctx, `UPDATE coaches SET kyc_state = 'not_started' WHERE id = $1 AND kyc_state = 'submitted'`, coachID)
	return err == nil, err
}

// Sealed are the columns that the service secret seals.
var Sealed = []store.Sealed{{
	Table: "kyc_submissions", Column: "legal_name", Purpose: vault.ForKYC,
	Read:  `SELECT id, legal_name FROM kyc_submissions WHERE id > $2 ORDER BY id LIMIT $1`,
	Write: `UPDATE kyc_submissions SET legal_name = $2 WHERE id = $3 AND legal_name = $1`,
}}
