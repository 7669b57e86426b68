package server

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/store"
)

// Operators is what the command line does for those who have a shell: the same
// services as behind the operators' listener, beside a service that may be running.
type Operators struct {
	Tokens        *operator.Service
	Subscriptions *coach.Subscriptions
	Verifications *coach.Verifications
	Oversight     *coach.AccountAdmin
	Documents     coach.DocumentStore
	Phones        phone.Parser

	cfg   *config.Config
	edges Edges
	db    *store.DB
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
		Oversight:     &coach.AccountAdmin{Store: db},
		Documents:     db,
		Phones:        phone.Parser{DefaultRegion: cfg.DefaultRegion},
		cfg:           cfg, edges: edges, db: db,
	}, nil
}

// Unlock opens the keys, for what is sealed in the database. It needs the master
// key of the service, as nothing else here does.
func (o *Operators) Unlock(ctx context.Context) error {
	keys, err := openKeys(ctx, o.cfg, o.db, o.edges.Now)
	if err != nil {
		return err
	}
	o.db.SetVault(keys.Vault)
	return nil
}

func newOperators(db *store.DB, edges Edges) *operator.Service {
	return &operator.Service{Store: db, Now: edges.Now, NewID: edges.NewID, Rand: edges.Rand}
}

// Close closes the database.
func (o *Operators) Close() error { return o.db.Close() }
