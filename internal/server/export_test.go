package server

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"golang.org/x/time/rate"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/blob"
)

// ServeDefaults serves handler on l with the timeouts of a replica whose Options are zero.
func ServeDefaults(l net.Listener, handler http.Handler, log *slog.Logger) error {
	return newDefaultServer(l, handler, 1, nil, log).serve()
}

// ServeConnections serves handler on l with these limits of connections, over HTTP/2 with encrypted.
func ServeConnections(l net.Listener, handler http.Handler, limit int, trusted []netip.Prefix, encrypted *tls.Config) error {
	s := newDefaultServer(l, handler, limit, trusted, slog.New(slog.DiscardHandler))
	s.TLSConfig, s.tls = encrypted, encrypted != nil
	return s.serve()
}

func newDefaultServer(l net.Listener, handler http.Handler, limit int, trusted []netip.Prefix, log *slog.Logger) *httpServer {
	a := &App{log: log, readiness: new(readiness), discardStall: Options{}.withDefaults().DiscardStall, discards: rate.NewLimiter(discardRate, discardBurst)}
	return a.newHTTPServer(l, handler, newConnections(limit, trusted, log))
}

// NewVerifiedStore returns files as a replica of the installation uses it.
func NewVerifiedStore(files blob.Store, in *auth.Installation, newID func() string) blob.Store {
	return newVerifiedStore(files, in, Options{NewID: newID, Log: slog.New(slog.DiscardHandler)})
}

// CountStreams begins n streams of one address and returns what happens to them.
func CountStreams(limit, n int) (admittedStreams, refusedStreams, resetStreams int) {
	c := newConnections(limit, nil, slog.New(slog.DiscardHandler))
	address := &network{name: "a"}
	count := map[admission]int{}
	for range n {
		count[c.beginStream(address)]++
	}
	for result, n := range count {
		for range n {
			c.endStream(address, result)
		}
	}
	if c.streams != 0 || address.streams != 0 || address.refusals != 0 {
		panic("streams are counted after their end")
	}
	return count[admitted], count[refused], count[reset]
}
