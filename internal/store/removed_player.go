package store

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

// endTeam ends the memberships of a player who is removed, deletes the coach's notifications of
// replies, and runs the hooks of features. Attendance, fees and messages stay in the coach's lists. The
// player's row is locked, so no concurrent transaction adds anything.
func (tx *Tx) endTeam(ctx context.Context, p *approval.Player) error {
	for _, s := range []statement{
		{`UPDATE batch_players SET left_at = $2 WHERE player_id = $1 AND left_at IS NULL`, []any{p.ID, database.Micros(tx.Now)}},
		{`DELETE FROM notifications WHERE player_id = $1 AND type = $2`, []any{p.ID, string(message.TeamReplyType)}},
	} {
		if err := tx.Defer(ctx, s.query, s.args...); err != nil {
			return err
		}
	}
	for _, hook := range tx.db.options.Hooks.PlayerRemoved {
		if err := hook(ctx, tx, p.CoachID, p.ID); err != nil {
			return err
		}
	}
	return nil
}
