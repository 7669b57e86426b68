package proof

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
)

// erasureOf says why a record is not that of the erasure of an account, or "".
func (s *Service) erasureOf(account string, r stored) string {
	f, err := factsOf(r.body)
	if err != nil {
		return "its record is not readable"
	}
	o, err := open(s.DB, r.sealed, r.id)
	if err != nil || f.recordID != r.id || f.kind != approval.ConsentAccountErased || o.claims["player_id"] != account || !o.claims.sameDigests(o.key, f.digestsOfClaim) {
		return fmt.Sprintf("record %s is not of it", r.id)
	}
	return ""
}

// auditErasures compares the erasures of accounts of families with their records. It returns how many records it saw.
func (s *Service) auditErasures(ctx context.Context, r *Report, size int64) (seen int64, err error) {
	for after := ""; ; {
		n, last := 0, ""
		rs, err := s.DB.Query(ctx, `
			SELECT e.object_id, e.erased_at, a.mobile_number, k.record_id, k.sealed, r.body, coalesce(r.position, -1), coalesce(r.at, 0)
			FROM erasures e JOIN accounts a ON a.id = e.object_id
			LEFT JOIN record_keys k ON k.player_id = e.object_id LEFT JOIN consent_records r ON r.id = k.record_id
			WHERE e.object_id > $1 AND e.kind IN ('guardian', 'student') ORDER BY e.object_id LIMIT $2`, after, playersBatch)
		err = database.Each(rs, err, func(row database.Scanner) error {
			var account, number string
			var record stored
			var erasedAt, at int64
			if err := row.Scan(&account, &erasedAt, &number, database.IntoText(&record.id), &record.sealed, &record.body, &record.position, &at); err != nil {
				return err
			}
			n, last = n+1, account
			if record.position >= 0 && record.position < size {
				seen++
			}
			switch {
			case number != "erased:"+account:
				r.add("account %s: erasures has it, but it was not erased", account)
			case record.body == nil:
				r.add("account %s: it was erased, but no record says so", account)
			default:
				if problem := s.erasureOf(account, record); problem != "" {
					r.add("account %s: it was erased, but %s", account, problem)
				}
			}
			return nil
		})
		if err != nil {
			return seen, fmt.Errorf("read erasures of accounts after %s: %w", after, err)
		}
		if n < playersBatch {
			return seen, nil
		}
		after = last
	}
}

// auditWaiting notes the records without a position that have no key.
func (s *Service) auditWaiting(ctx context.Context, r *Report) error {
	rs, err := s.DB.Query(ctx, `
		SELECT r.id FROM consent_records r WHERE r.position IS NULL AND NOT EXISTS (SELECT 1 FROM record_keys k WHERE k.record_id = r.id)
		ORDER BY r.at, r.id LIMIT $1`, maxFindings)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return fmt.Errorf("find records without a key: %w", err)
	}
	for _, id := range ids {
		r.add("record %s has no key in record_keys", id)
	}
	return nil
}

// findUnseen says which numbered records have no key, or the key of an unknown player.
func (s *Service) findUnseen(ctx context.Context, r *Report, size int64) error {
	for _, search := range []struct{ finding, query string }{
		{"record %s has no key in record_keys", `
			SELECT r.id FROM consent_records r WHERE r.position < $1 AND NOT EXISTS (SELECT 1 FROM record_keys k WHERE k.record_id = r.id)
			ORDER BY r.position LIMIT $2`},
		{"record %s is of a player that is missing", `
			SELECT r.id FROM consent_records r JOIN record_keys k ON k.record_id = r.id
			WHERE r.position < $1 AND NOT EXISTS (SELECT 1 FROM players p WHERE p.id = k.player_id) AND NOT EXISTS (SELECT 1 FROM erasures e JOIN accounts a ON a.id = e.object_id WHERE e.object_id = k.player_id)
			ORDER BY r.position LIMIT $2`},
	} {
		rs, err := s.DB.Query(ctx, search.query, size, maxFindings)
		ids, err := database.CollectTexts(rs, err)
		if err != nil {
			return fmt.Errorf("find records without a player: %w", err)
		}
		for _, id := range ids {
			r.add(search.finding, id)
		}
	}
	return nil
}
