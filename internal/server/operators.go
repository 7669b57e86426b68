package server

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/store"
)

// Operators is what the command line does for those who have a shell: the same
// services as behind the operators' listener, beside a service that may be running.
type Operators struct {
	Tokens        *operator.Service
	Subscriptions *coach.Subscriptions
	Verifications *coach.Verifications

	db *store.DB
}

// OpenOperators opens the database of cfg, and migrates it where nobody has. Close
// must follow.
func OpenOperators(ctx context.Context, cfg *config.Config, edges Edges) (*Operators, error) {
	edges = edges.filled()
	tiers, err := Tiers(cfg)
	if err != nil {
		return nil, err
	}
	db, err := OpenStore(ctx, cfg, edges)
	if err != nil {
		return nil, err
	}
	return &Operators{
		Tokens:        newOperators(db, edges),
		Subscriptions: &coach.Subscriptions{Store: db, Tiers: tiers},
		Verifications: &coach.Verifications{Store: db, On: cfg.KYC, Now: edges.Now, NewID: edges.NewID},
		db:            db,
	}, nil
}

func newOperators(db *store.DB, edges Edges) *operator.Service {
	return &operator.Service{Store: db, Now: edges.Now, NewID: edges.NewID, Rand: edges.Rand}
}

// Close closes the database.
func (o *Operators) Close() error { return o.db.Close() }
