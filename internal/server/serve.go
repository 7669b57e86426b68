package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// The bounds of a connection. A phone on a bad network needs seconds; nobody
// needs minutes to send 64 KiB.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 45 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	// stopTimeout is how long requests under way may take once the replica stops.
	stopTimeout = 30 * time.Second
)

// Serve answers on l, and does the background work, until ctx ends. Then it says
// that it is not ready, goes on for the drain time so that load balancers notice,
// lets every request under way end, and returns.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	door, open := newGate(l), new(connections)
	srv := &http.Server{
		ConnState: open.note,
		Handler:   a.handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(a.edges.Log.Handler(), slog.LevelDebug),
	}
	background, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { a.worker.Run(background) })
	wait.Go(func() { a.db.Listen(background, func(ids []string) { a.hub.Wake(ids...) }) })
	defer wait.Wait()
	defer stop()

	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(door) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	a.draining.Store(true)
	select {
	case err := <-failed:
		return err
	case <-time.After(a.cfg.ShutdownDrain):
	}
	a.hub.Close() // streams would never end by themselves
	limit, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	door.shut()
	<-failed // from here on no connection is added
	srv.SetKeepAlivesEnabled(false)
	open.wait(limit)
	if err := srv.Shutdown(limit); err != nil {
		return errors.Join(err, srv.Close())
	}
	return nil
}

// drained asks clients, while the replica drains, to open their next connection
// elsewhere.
func (a *App) drained(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
