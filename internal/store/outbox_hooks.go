package store

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

// RequestHooks are message.Hooks for the messages of requests, with the transaction of the store.
type RequestHooks struct {
	Facts     func(ctx context.Context, tx *Tx, messages []message.Outgoing) ([]message.Facts, error)
	Failed    func(ctx context.Context, tx *Tx, d message.Delivery) error
	Reached   func(ctx context.Context, tx *Tx, requestID, deliveryID string, channel message.Channel) (bool, error)
	Postponed func(ctx context.Context, tx *Tx, requestIDs []string) error
	Released  func(ctx context.Context, tx *Tx, requestID string) error
}

// outboxHooks are what the outbox calls in its transactions.
func (db *DB) outboxHooks() message.Hooks {
	in := func(tx *database.Tx) *Tx { return &Tx{Tx: tx, db: db} }
	h := db.options.Hooks.Requests
	if h.Facts == nil {
		return message.Hooks{}
	}
	return message.Hooks{
		Facts: func(ctx context.Context, tx *database.Tx, messages []message.Outgoing) ([]message.Facts, error) {
			return h.Facts(ctx, in(tx), messages)
		},
		Failed: func(ctx context.Context, tx *database.Tx, d message.Delivery) error { return h.Failed(ctx, in(tx), d) },
		Reached: func(ctx context.Context, tx *database.Tx, requestID, deliveryID string, channel message.Channel) (bool, error) {
			return h.Reached(ctx, in(tx), requestID, deliveryID, channel)
		},
		Postponed: func(ctx context.Context, tx *database.Tx, requestIDs []string) error {
			return h.Postponed(ctx, in(tx), requestIDs)
		},
		Released: func(ctx context.Context, tx *database.Tx, requestID string) error {
			return h.Released(ctx, in(tx), requestID)
		},
	}
}
