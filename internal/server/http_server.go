package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// The limits of one connection. A phone on a slow network needs seconds, not minutes,
// to send 64 KiB.
const (
	headerTimeout  = 10 * time.Second
	readTimeout    = 30 * time.Second
	writeTimeout   = 45 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 16 << 10
)

// httpServer is an http.Server with its listener.
type httpServer struct {
	*http.Server
	listener net.Listener
	tls      bool
}

// newHTTPServer returns a server of handler on l. A nil certificate means no TLS.
func (a *App) newHTTPServer(l net.Listener, handler http.Handler, c *certificate) *httpServer {
	s := &httpServer{listener: l, Server: &http.Server{
		Handler:           a.closeIdle(handler),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}}
	if c != nil {
		s.tls, s.TLSConfig = true, c.tlsConfig()
	}
	return s
}

// serve accepts connections until the server shuts down. With TLS it speaks HTTP/2
// and HTTP/1.1.
func (s *httpServer) serve() error {
	if s.tls {
		return s.ServeTLS(s.listener, "", "")
	}
	return s.Serve(s.listener)
}

// shutdownAll closes the listeners and the idle connections, waits until requests
// under way have their response, and after shutdownTimeout closes their connections.
func shutdownAll(servers []*httpServer) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	errs := make([]error, len(servers))
	var wait sync.WaitGroup
	for i, s := range servers {
		wait.Go(func() {
			if err := s.Shutdown(ctx); err != nil {
				errs[i] = fmt.Errorf("shut down %s: %w", s.listener.Addr(), errors.Join(err, s.Close()))
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func closeAll(servers []*httpServer) error {
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
