package player

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// keepFormerGuardian keeps the role of a guardian whom the coach removes, if that account has decided about the player.
func (w *saving) keepFormerGuardian(ctx context.Context) error {
	if w.c.FormerGuardian == "" {
		return nil
	}
	return w.tx.Defer(ctx, `
		INSERT INTO former_guardians (account_id, player_id, removed_at)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT)
		WHERE EXISTS (SELECT 1 FROM approval_history h WHERE h.player_id = $2 AND h.approver_id = $1)
		ON CONFLICT (account_id, player_id) DO NOTHING`, w.c.FormerGuardian, w.p.ID, database.Micros(w.tx.Now))
}

// FormerPlayers lists the ids of at most limit players from which a coach removed the calling guardian, after the given
// id.
func (s *Service) FormerPlayers(ctx context.Context, by actor.Actor, after string, limit int) ([]string, error) {
	rs, err := s.DB.Query(ctx, `SELECT player_id FROM former_guardians WHERE account_id = $1 AND player_id > $2 ORDER BY player_id LIMIT $3`, by.AccountID, after, limit)
	ids, err := database.CollectTexts(rs, err)
	return ids, fault.Wrap(err, "list players of a former guardian")
}

// FormerDecisions lists the decisions of the calling guardian about one of FormerPlayers. It lists none of a guardian who was added again,
// who finds them with the player.
func (s *Service) FormerDecisions(ctx context.Context, by actor.Actor, playerID string) (decisions []approval.Record, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		rs, err := tx.Query(ctx, `SELECT guardian_id FROM parties WHERE player_id = $1 AND role = 'guardian' AND account_id = $2 AND deleted_at IS NULL`, playerID, by.AccountID)
		current, err := database.CollectTexts(rs, err)
		if err != nil || len(current) > 0 {
			return err
		}
		history, err := readHistory(ctx, tx, playerID)
		decisions = slices.DeleteFunc(history, func(r approval.Record) bool { return r.ApproverID != by.AccountID })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list decisions of a former guardian: %w", err)
	}
	s.openShown(decisions)
	return decisions, nil
}
