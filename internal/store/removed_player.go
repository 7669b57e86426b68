package store

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

// endTeam ends the memberships of a player who is removed, and deletes the rows that no call
// returns any longer: measurements, reports, and the coach's notifications of replies. Attendance,
// fees and messages stay in the coach's lists. The player's row is locked, so no concurrent
// transaction adds anything.
func (tx *Tx) endTeam(ctx context.Context, p *approval.Player) error {
	for _, s := range []statement{
		{`UPDATE batch_players SET left_at = $2 WHERE player_id = $1 AND left_at IS NULL`, []any{p.ID, database.Micros(tx.Now)}},
		{`DELETE FROM measurements WHERE coach_id = $1 AND player_id = $2`, []any{p.CoachID, p.ID}},
		{`DELETE FROM performance_reports WHERE coach_id = $1 AND player_id = $2`, []any{p.CoachID, p.ID}},
		{`DELETE FROM removed_records WHERE coach_id = $1 AND player_id = $2`, []any{p.CoachID, p.ID}},
		{`DELETE FROM notifications WHERE player_id = $1 AND type = $2`, []any{p.ID, string(message.TeamReplyType)}},
	} {
		if err := tx.Defer(ctx, s.query, s.args...); err != nil {
			return err
		}
	}
	return nil
}
