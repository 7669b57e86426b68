package player

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// RequestsAbout lists the requests about players of a coach, in no order.
func RequestsAbout(ctx context.Context, db *store.DB, coachID string, playerIDs []string) ([]approval.Request, error) {
	ids := database.PaddedIDs(playerIDs)
	rs, err := db.Query(ctx, `
		SELECT id, player_id, approver_type, state, requested_at, last_sent_at, closed_at
		FROM requests WHERE coach_id = $1 AND player_id IN (`+database.Params(2, len(ids))+`)`, append([]any{coachID}, ids...)...)
	list, err := database.Collect(rs, err, func(s database.Scanner) (r approval.Request, err error) {
		return r, s.Scan(&r.ID, &r.PlayerID, &r.Party, &r.State, database.IntoTime(&r.RequestedAt), database.IntoTime(&r.LastSentAt), database.IntoTime(&r.ClosedAt))
	})
	return list, fault.Wrap(err, "list requests")
}

// DecisionsAbout lists the decisions about players of a coach, in no order.
func DecisionsAbout(ctx context.Context, db *store.DB, coachID string, playerIDs []string) ([]approval.Record, error) {
	ids := database.PaddedIDs(playerIDs)
	rs, err := db.Query(ctx, `
		SELECT h.id, h.player_id, h.approver_type, h.action, h.reason, h.decided_at
		FROM approval_history h JOIN players p ON p.id = h.player_id
		WHERE p.coach_id = $1 AND h.player_id IN (`+database.Params(2, len(ids))+`)`, append([]any{coachID}, ids...)...)
	list, err := database.Collect(rs, err, func(s database.Scanner) (r approval.Record, err error) {
		return r, s.Scan(&r.ID, &r.PlayerID, &r.Party, &r.Action, database.IntoText(&r.Reason), database.IntoTime(&r.At))
	})
	return list, fault.Wrap(err, "list decisions")
}
