package server

import (
	"log/slog"

	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/store"
)

// NewVerifiedStore returns files as a replica of the installation uses it.
func NewVerifiedStore(files blob.Store, in *store.Installation, newID func() string) blob.Store {
	return newVerifiedStore(files, in, Options{NewID: newID, Log: slog.New(slog.DiscardHandler)})
}
