package server

import (
	"log/slog"
	"net"
	"net/http"

	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/store"
)

// ServeDefaults serves handler on l with the timeouts of a replica whose Options are zero.
func ServeDefaults(l net.Listener, handler http.Handler, log *slog.Logger) error {
	a := &App{log: log, readiness: new(readiness), discardStall: Options{}.withDefaults().DiscardStall}
	return a.newHTTPServer(l, handler, &connections{limit: 1}).serve()
}

// NewVerifiedStore returns files as a replica of the installation uses it.
func NewVerifiedStore(files blob.Store, in *store.Installation, newID func() string) blob.Store {
	return newVerifiedStore(files, in, Options{NewID: newID, Log: slog.New(slog.DiscardHandler)})
}
