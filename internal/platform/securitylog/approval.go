package securitylog

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/approval"
)

func (s *stores) UpdatePlayer(ctx context.Context, id string, load approval.LoadOptions, fn func(*approval.Player) (approval.Change, error)) error {
	var decided *approval.Record
	var coachID string
	err := s.Stores.UpdatePlayer(ctx, id, load, func(p *approval.Player) (approval.Change, error) {
		change, err := fn(p)
		decided, coachID = change.History, p.CoachID
		return change, err
	})
	if err == nil && decided != nil {
		s.log.metrics.Decided(decided)
		attrs := []slog.Attr{
			account(decided.ApproverID), slog.String("player_id", id),
			slog.String("party", string(decided.Party)), slog.String("action", string(decided.Action)),
		}
		s.log.Event(ctx, "decision_recorded", attrs...)
		if decided.CoachDevice {
			s.log.Event(ctx, "approved_on_coach_device", append(attrs, slog.String("coach_id", coachID))...)
		}
	}
	return err
}
