package server

import (
	"context"
	"errors"
	"slices"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/training"
	"github.com/touchline/touchline/internal/verification"
)

// Sealed are the columns that the service secret seals. A rotation seals them again.
func Sealed() []store.Sealed {
	return slices.Concat(player.Sealed, verification.Sealed, auth.Sealed, feed.Sealed, proof.Sealed)
}

// EndedWithSecret is what ends with the service secret, besides what the database does not have.
func EndedWithSecret() []store.Ended {
	return slices.Concat(auth.Ended, player.Ended, training.Ended)
}

// RotateSecret replaces the service secret. It fails if a service runs on the database.
func RotateSecret(ctx context.Context, cfg *config.Config, o Options, by actor.Operator) (done auth.Rotated, err error) {
	unlock, err := dump.LockStopped(ctx, cfg.DatabaseURL.Reveal())
	if err != nil {
		return done, err
	}
	defer unlock()
	o = o.withDefaults()
	sql, _, err := openDatabase(ctx, cfg, o)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, sql.Close()) }()
	masters, err := cfg.MasterKeys()
	if err != nil {
		return done, err
	}
	return auth.SecretRotation{
		Installation: auth.NewInstallation(sql), By: by, EntryID: o.NewID(), Masters: masters, Sealed: Sealed(), Ended: EndedWithSecret(), Now: o.Now(),
	}.Run(ctx)
}
