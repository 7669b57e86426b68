package server

import (
	"log/slog"

	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/store"
)

// OwnFiles is files as a replica on db uses them.
func OwnFiles(files blob.Store, db *store.DB, newID func() string) blob.Store {
	return newOwnFiles(files, db, Edges{NewID: newID, Log: slog.New(slog.DiscardHandler)})
}
