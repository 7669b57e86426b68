package server

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/store"
)

// repeatErasures erases what the file ERASURES names and the database still has, and writes what the file does not have.
// An older copy of the database may have been restored.
func repeatErasures(ctx context.Context, s *privacy.Service, ledger *privacy.Ledger, log *slog.Logger) error {
	if ledger.Path == "" {
		return nil
	}
	erased, unreadable, err := s.Reapply(ctx, ledger.Path)
	if len(unreadable) > 0 {
		log.Warn("some lines of ERASURES cannot be read and are left out", "file", ledger.Path, "lines", unreadable)
	}
	if err != nil {
		return err
	}
	if erased > 0 {
		log.Warn("the database is an older copy: its erased players and accounts were erased again", "erased", erased, "file", ledger.Path)
	}
	return ledger.Append(ctx)
}

// People exports and erases what a person has, for the commands of operators.
type People struct {
	*privacy.Service
	Ledger *privacy.Ledger
}

// People returns the service for people. It needs the master key.
func (o *Operators) People(ctx context.Context) (*People, error) {
	b, err := newBase(ctx, o.cfg, o.options, o.sql, o.tiers)
	if err != nil {
		return nil, err
	}
	s, err := newServices(o.cfg, o.options, b, nil) // reads and writes no file of a coach
	if err != nil {
		return nil, err
	}
	return &People{s.privacy, s.ledger}, nil
}

// EraseAccountFor is EraseAccount with an entry in the audit log.
func (p *People) EraseAccountFor(ctx context.Context, by actor.Operator, id, reason string) error {
	return p.EraseAccount(ctx, id, func(ctx context.Context, tx *store.Tx) error {
		return tx.Record(ctx, by, operator.PersonErased, "account", id, reason)
	})
}

// ErasePlayerFor is ErasePlayer with an entry in the audit log.
func (p *People) ErasePlayerFor(ctx context.Context, by actor.Operator, id, reason string) error {
	return p.ErasePlayer(ctx, id, func(ctx context.Context, tx *store.Tx) error {
		return tx.Record(ctx, by, operator.PlayerErased, "player", id, reason)
	})
}
