package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/httpx"
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

	// The limits of an HTTP/2 connection. Its streams have the timeouts above.
	pingAfter    = 30 * time.Second // without a frame
	pingTimeout  = 15 * time.Second
	frameTimeout = 30 * time.Second // to write some bytes of a frame
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
		Handler:           a.guardConnection(handler),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout, WriteByteTimeout: frameTimeout},
		ConnState:         c.observe,
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

// guardConnection decides whether an HTTP/1.1 connection stays open after the response.
//
// While the replica drains, it asks clients to close their connection, so that at the
// end of the drain time only unused connections are idle.
//
// After a chunked body it closes the connection: a proxy that finds another end of the
// body would take the rest for a request of the next client (RFC 9112, section 11.2).
//
// It reads the rest of a body that the handler has refused. Many clients, such as browsers,
// send a whole body before they read the response. If the server closed the connection
// earlier, they would report a reset connection instead of the response.
func (a *App) guardConnection(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.readiness.draining.Load() || len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close") // over HTTP/2, net/http sends GOAWAY
		}
		body := r.Body
		next.ServeHTTP(w, r)
		if r.ProtoMajor == 1 && r.ContentLength != 0 {
			a.discard(http.NewResponseController(w), body, r.Header.Get("Expect") == "")
		}
	})
}

// discard reads the rest of a body. A client that expects 100 Continue may wait with it for
// the response: net/http alone decides about that body, within the first deadline.
func (a *App) discard(control *http.ResponseController, body io.Reader, sends bool) {
	end := time.Now().Add(discardTimeout)
	for left := discardBytes; left > 0; left -= discardChunk {
		deadline := time.Now().Add(a.discardStall)
		if end.Before(deadline) {
			deadline = end
		}
		_ = control.SetReadDeadline(deadline)
		if !sends {
			return
		}
		if _, err := io.CopyN(io.Discard, body, discardChunk); err != nil {
			return
		}
		_ = control.SetWriteDeadline(time.Now().Add(httpx.WriteTimeout))
	}
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
