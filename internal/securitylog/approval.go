package securitylog

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/approval"
)

func (s *stores) UpdatePlayer(ctx context.Context, id string, load approval.LoadOptions, fn func(*approval.Player) (approval.Change, error)) error {
	var decided *approval.Record
	err := s.Stores.UpdatePlayer(ctx, id, load, func(p *approval.Player) (approval.Change, error) {
		change, err := fn(p)
		decided = change.History
		return change, err
	})
	if err == nil && decided != nil {
		s.log.metrics.Decided(decided)
		s.log.Event(ctx, "decision_recorded", account(decided.ApproverID), slog.String("player_id", id),
			slog.String("party", string(decided.Party)), slog.String("action", string(decided.Action)))
	}
	return err
}
