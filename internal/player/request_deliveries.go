package player

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// sentColumns are the columns that sentMessage scans. A join that finds no delivery leaves them NULL.
const sentColumns = `d.kind, d.channel, d.state, d.reason, d.cause, d.held_by, d.due_at, d.created_at, d.updated_at`

// sentMessage is a message of a request while it is scanned. heldBy is the key of the limit for
// which it waits.
type sentMessage struct {
	approval.Delivery
	heldBy string
}

func (m *sentMessage) dest() []any {
	d := &m.Delivery
	return []any{
		database.IntoText(&d.Kind), database.IntoText((*string)(&d.Channel)), database.IntoText(&d.State), database.IntoText(&d.Reason), database.IntoText(&d.Cause), database.IntoText(&m.heldBy),
		database.IntoTime(&d.DueAt), database.IntoTime(&d.QueuedAt), database.IntoTime(&d.At),
	}
}

func (m *sentMessage) delivery() approval.Delivery {
	if m.Reason == message.ReasonHeld {
		m.Hold = message.HoldOf(m.heldBy)
	}
	return m.Delivery
}

// loadDeliveries loads the deliveries of requests, oldest first, with the next statement of the
// transaction. The caller must have checked access to the requests.
func loadDeliveries(ctx context.Context, tx *store.Tx, requests []*approval.Request) error {
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
		var d sentMessage
		err := s.Scan(append([]any{&id}, d.dest()...)...)
		if r := byID[id]; r != nil {
			r.Deliveries = append(r.Deliveries, d.delivery())
		}
		return err
	}, `
		SELECT d.request_id, `+sentColumns+` FROM deliveries d
		WHERE d.request_id IN (`+database.Params(1, len(ids))+`) ORDER BY d.id`, ids...)
	return fault.Wrap(err, "read deliveries")
}
