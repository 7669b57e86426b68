package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/database"
)

// LoadDeliveries loads the deliveries of requests, oldest first. The caller must have
// checked access to the requests.
func (db *DB) LoadDeliveries(ctx context.Context, requests ...*approval.Request) error {
	return loadDeliveries(ctx, db.sql, requests)
}

func loadDeliveries(ctx context.Context, q database.Querier, requests []*approval.Request) error {
	if len(requests) == 0 {
		return nil
	}
	byID := make(map[string]*approval.Request, len(requests))
	var ids []any
	for _, r := range requests {
		byID[r.ID], r.Deliveries = r, nil
		ids = append(ids, r.ID)
	}
	rs, err := q.Query(ctx, `
		SELECT request_id, kind, channel, state, reason, cause, created_at, updated_at FROM deliveries
		WHERE request_id IN (`+params(1, len(ids))+`) ORDER BY id`, ids...)
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var id string
		var d approval.Delivery
		err := s.Scan(&id, &d.Kind, &d.Channel, &d.State, intoText(&d.Reason), intoText(&d.Cause), intoTime(&d.QueuedAt), intoTime(&d.At))
		if r := byID[id]; r != nil {
			r.Deliveries = append(r.Deliveries, d)
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("read deliveries: %w", err)
	}
	return nil
}
