package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/database"
)

// loadDeliveries loads the deliveries of requests, oldest first, with the next statement of the
// transaction. The caller must have checked access to the requests.
func (tx *tx) loadDeliveries(ctx context.Context, requests []*approval.Request) error {
	if len(requests) == 0 {
		return nil
	}
	byID := make(map[string]*approval.Request, len(requests))
	var ids []any
	for _, r := range requests {
		byID[r.ID], r.Deliveries = r, nil
		ids = append(ids, r.ID)
	}
	err := tx.DeferRows(ctx, func(s database.Scanner) error {
		var id string
		var d approval.Delivery
		err := s.Scan(&id, &d.Kind, &d.Channel, &d.State, intoText(&d.Reason), intoText(&d.Cause), intoTime(&d.QueuedAt), intoTime(&d.At))
		if r := byID[id]; r != nil {
			r.Deliveries = append(r.Deliveries, d)
		}
		return err
	}, `
		SELECT request_id, kind, channel, state, reason, cause, created_at, updated_at FROM deliveries
		WHERE request_id IN (`+params(1, len(ids))+`) ORDER BY id`, ids...)
	if err != nil {
		return fmt.Errorf("read deliveries: %w", err)
	}
	return nil
}
