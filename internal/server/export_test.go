package server

import (
	"log/slog"

	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/store"
)

// NewVerifiedStore returns files as a replica on db uses it.
func NewVerifiedStore(files blob.Store, db *store.DB, newID func() string) blob.Store {
	return newVerifiedStore(files, db, Options{NewID: newID, Log: slog.New(slog.DiscardHandler)})
}
