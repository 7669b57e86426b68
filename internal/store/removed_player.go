package store

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
)

// endTeam ends the memberships of a player who is removed, and runs the hooks of features. Attendance
// and fees stay in the coach's lists. The player's row is locked, so no concurrent transaction adds
// anything.
func (tx *Tx) endTeam(ctx context.Context, p *approval.Player) error {
	err := tx.Defer(ctx, `UPDATE batch_players SET left_at = $2 WHERE player_id = $1 AND left_at IS NULL`, p.ID, database.Micros(tx.Now))
	if err != nil {
		return err
	}
	for _, hook := range tx.db.options.Hooks.PlayerRemoved {
		if err := hook(ctx, tx, p.CoachID, p.ID); err != nil {
			return err
		}
	}
	return nil
}
