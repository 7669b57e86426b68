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

	// The limits of the rest of a body that the handler has not read: discardStall for each
	// discardChunk bytes, discardTimeout for discardBytes.
	discardStall   = 5 * time.Second
	discardTimeout = 30 * time.Second
	discardChunk   = 64 << 10
	discardBytes   = 32 << 20
	// discardRate limits the bytes a second that the process reads only to discard them, and
	// discardBurst those at once: 1,400 refused bodies of 4 MiB would take seconds of processor
	// time, and other requests would wait.
	discardRate, discardBurst = 64 << 20, 32 << 20
	// maxDiscards is how many bodies of one address are discarded at once. More connections are closed: each keeps about 40 KiB over TLS.
	maxDiscards = 64

	// The limits of an HTTP/2 connection. Its streams have the timeouts above.
	pingAfter    = 30 * time.Second // without a frame
	pingTimeout  = 15 * time.Second
	frameTimeout = 10 * time.Second // to write some bytes of a frame
)

// httpServer is an http.Server with its listener.
type httpServer struct {
	*http.Server
	listener net.Listener
	tls      bool
}

// newHTTPServer returns a server of handler on l, whose connections c bounds.
func (a *App) newHTTPServer(l net.Listener, handler http.Handler, c *connections) *httpServer {
	s := &httpServer{listener: c.listen(&warningListener{Listener: l, log: a.log}), Server: &http.Server{
		Handler:           c.boundStreams(a.guardConnection(handler)),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             http2Config(),
		ConnState:         c.observe,
		ConnContext:       withConnection,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}}
	switch {
	case a.certificate != nil:
		s.tls, s.TLSConfig = true, a.certificate.tlsConfig()
	case a.acme != nil:
		s.tls, s.TLSConfig = true, a.acme.tlsConfig()
	}
	return s
}

func http2Config() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams: maxConcurrentStreams, MaxReceiveBufferPerConnection: receiveBuffer, MaxReceiveBufferPerStream: receiveBuffer,
		SendPingTimeout: pingAfter, PingTimeout: pingTimeout, WriteByteTimeout: frameTimeout,
	}
}

// warningListener logs, at most once a minute, that connections cannot be accepted, for example
// because the process has no free file. net/http tries again and logs it at debug.
type warningListener struct {
	net.Listener
	log    *slog.Logger
	warned time.Time
}

// Accept implements net.Listener. Only one goroutine calls it.
func (l *warningListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil || errors.Is(err, net.ErrClosed) {
		return conn, err
	}
	if now := time.Now(); now.Sub(l.warned) >= warnInterval {
		l.warned = now
		l.log.Warn("accept connections: new clients wait until it succeeds", "error", err)
	}
	return conn, err
}

// serve accepts connections until the server shuts down. With TLS it speaks HTTP/2
// and HTTP/1.1.
func (s *httpServer) serve() error {
	if s.tls {
		return s.ServeTLS(s.listener, "", "")
	}
	return s.Serve(s.listener)
}

// shutdownAll closes the listeners and the idle connections, waits for the active requests, and
// after shutdownTimeout closes their connections.
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
