package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/problem"
)

const (
	// startupGrace is the time after which a start answers probes. Before it, connections wait for the service.
	startupGrace = time.Second
	// startupLogEvery is how often the log says why a start takes long.
	startupLogEvery = 10 * time.Second
	// startupShutdown limits the time for the last responses of a start.
	startupShutdown = time.Second
)

// Startup answers on the listeners of a replica until it is ready to serve: /healthz with 200, everything else with 503
// and the reason, for example the migration that runs. With TLS_AUTOCERT_DOMAINS it answers nothing, because the certificates are
// in the database.
type Startup struct {
	log     *slog.Logger
	problem problem.Writer
	stop    context.CancelFunc
	wait    sync.WaitGroup

	mu     sync.Mutex
	reason string
	since  time.Time
}

// NewStartup returns a Startup that answers on the listeners, which may be nil, until Stop.
func NewStartup(cfg *config.Config, log *slog.Logger, listeners ...net.Listener) (*Startup, error) {
	certificate, err := openCertificate(cfg, Options{Log: log}.withDefaults())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Startup{log: log, problem: problem.Writer{PublicURL: cfg.PublicURL, Log: log}, stop: cancel, reason: "The replica starts.", since: time.Now()}
	s.wait.Go(func() { s.logReason(ctx) })
	for _, l := range listeners {
		tcp, ok := l.(*net.TCPListener)
		if !ok || cfg.TLSOn() && certificate == nil {
			continue
		}
		server := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, MaxHeaderBytes: maxHeaderBytes, HTTP2: http2Config()}
		server.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
		server.SetKeepAlivesEnabled(false) // the next request is for the service
		if certificate != nil {
			server.TLSConfig = certificate.tlsConfig()
		}
		s.wait.Go(func() { s.answer(ctx, server, tcp) })
	}
	return s, nil
}

// answer serves requests on l from startupGrace on until ctx ends. It leaves l open.
func (s *Startup) answer(ctx context.Context, server *http.Server, l *net.TCPListener) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(startupGrace):
	}
	// A deadline in the past ends Accept. Without it the listener would have to be closed.
	stopAccept := context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	lent := &lentListener{l, ctx}
	serve := server.Serve
	if server.TLSConfig != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	if err := serve(lent); !errors.Is(err, http.ErrServerClosed) {
		s.log.Warn("answer probes during the start", "error", err)
	}
	stopAccept()
	_ = l.SetDeadline(time.Time{})
	last, cancel := context.WithTimeout(context.Background(), startupShutdown)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		_ = server.Close()
	}
}

// lentListener accepts connections until ctx ends. Close leaves the listener open.
type lentListener struct {
	*net.TCPListener
	ctx context.Context
}

// Accept implements net.Listener.
func (l *lentListener) Accept() (net.Conn, error) {
	conn, err := l.TCPListener.Accept()
	if err != nil && l.ctx.Err() != nil {
		return nil, http.ErrServerClosed
	}
	return conn, err
}

// Close implements net.Listener.
func (l *lentListener) Close() error { return nil }

func (s *Startup) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}`))
		return
	}
	reason, _ := s.current()
	s.problem.Write(w, r, uuid.NewString(), r.Pattern, &fault.Error{Kind: fault.Unavailable, Code: "unavailable", Message: reason, RetryAfter: time.Second})
}

func (s *Startup) current() (reason string, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason, s.since
}

func (s *Startup) set(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason != reason {
		s.reason, s.since = reason, time.Now()
	}
}

// WaitsForOther says that another process serves the SQLite database.
func (s *Startup) WaitsForOther() {
	s.log.Info("another process serves this SQLite database: wait until it stops")
	s.set("The replica waits for another process that serves the SQLite database.")
}

// Migration says what a migration does. It is an observer of database.DB.MigrateObserved.
func (s *Startup) Migration(e database.MigrationEvent) {
	if e.State == database.MigrationApplied {
		s.log.Info("migration applied", "migration", e.Migration, "milliseconds", e.Took.Milliseconds())
		return
	}
	s.set(describe(e))
}

func describe(e database.MigrationEvent) string {
	if e.Migration == "" {
		return "The replica " + string(e.State) + "."
	}
	return "The migration " + e.Migration + " " + string(e.State) + "."
}

// logReason logs every startupLogEvery why the replica is not ready.
func (s *Startup) logReason(ctx context.Context) {
	t := time.NewTicker(startupLogEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			reason, since := s.current()
			s.log.Info("not ready yet", "reason", reason, "seconds", int(time.Since(since).Seconds()))
		}
	}
}

// Stop ends the answers and returns the listeners to the service.
func (s *Startup) Stop() {
	s.stop()
	s.wait.Wait()
}
