package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// dueProof is a proof that is over, or ends soon.
type dueProof struct {
	account string
	endsAt  time.Time
}

// EndDue ends up to n proofs that are over, with the approvals that need them, and tells guardians of those that end within toldBefore.
// It returns how many it found. Each is in a transaction that guards its row, so that only one replica does it.
func (s *Service) EndDue(ctx context.Context, n int) (int, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT account_id, ends_at FROM adult_proofs
		WHERE ended_at IS NULL AND ends_at <= $1 AND (told_at IS NULL OR ends_at <= $2) ORDER BY ends_at, account_id LIMIT $3`,
		database.Micros(s.Now().Add(toldBefore)), database.Micros(s.Now()), n)
	due, err := database.Collect(rs, err, func(row database.Scanner) (d dueProof, err error) {
		return d, row.Scan(&d.account, database.IntoTime(&d.endsAt))
	})
	if err != nil {
		return 0, fmt.Errorf("find proofs that end: %w", err)
	}
	what := func(d dueProof) string { return "proof of account " + d.account }
	return len(due), store.WriteEach(ctx, s.DB, due, what, func(tx *store.Tx, d dueProof) error { return s.endDue(ctx, tx, d) })
}

// endDue ends a proof, or tells its guardian that it ends, unless another replica was faster or the person proved it again.
func (s *Service) endDue(ctx context.Context, tx *store.Tx, d dueProof) error {
	if tx.Now.Before(d.endsAt) {
		n, err := tx.Exec(ctx, `UPDATE adult_proofs SET told_at = $3 WHERE account_id = $1 AND ends_at = $2 AND told_at IS NULL`, d.account, database.Micros(d.endsAt), database.Micros(tx.Now))
		if err != nil || n == 0 {
			return err
		}
		events, err := s.Approvals.ProofEnding(ctx, tx, d.account, d.endsAt.Format(time.DateOnly))
		if err != nil {
			return err
		}
		return notice.Notify(ctx, tx, events)
	}
	n, err := tx.Exec(ctx, `UPDATE adult_proofs SET ended_at = $3, subject_hash = NULL WHERE account_id = $1 AND ends_at = $2 AND ended_at IS NULL`, d.account, database.Micros(d.endsAt), database.Micros(tx.Now))
	if err != nil || n == 0 {
		return err
	}
	return s.Approvals.ProofEnded(ctx, tx, d.account)
}
