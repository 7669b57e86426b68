package securitylog

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/approval"
)

// Approvals returns store with recorded decisions logged and counted.
func (l *Log) Approvals(store approval.Store) approval.Store { return &approvalStore{store, l} }

type approvalStore struct {
	approval.Store
	log *Log
}

func (s *approvalStore) UpdatePlayer(ctx context.Context, id string, load approval.LoadOptions, fn func(*approval.Player) (approval.Change, error)) error {
	var decided *approval.Record
	err := s.Store.UpdatePlayer(ctx, id, load, func(p *approval.Player) (approval.Change, error) {
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
