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

// Serve answers on public, and operators on theirs unless that is nil, and does
// the background work, until ctx ends. Then it says that it is not ready, goes on
// for the drain time so that load balancers notice, lets every request under way
// end, and returns. If one listener fails, both stop.
func (a *App) Serve(ctx context.Context, public, operators net.Listener) error {
	doors := []*door{a.open(public, a.handler)}
	if a.certificate != nil {
		doors[0].secure(a.certificate)
	}
	if operators != nil {
		doors = append(doors, a.open(operators, a.operators))
	}
	background, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { a.worker.Run(background) })
	wait.Go(func() { a.db.Listen(background, func(ids []string) { a.hub.Wake(ids...) }) })
	defer wait.Wait()
	defer stop()

	failed := make(chan error, len(doors))
	for _, d := range doors {
		go func() {
			err := d.srv.Serve(d.listener)
			close(d.closed)
			failed <- err
		}()
	}
	select {
	case err := <-failed:
		return errors.Join(err, closeAll(doors))
	case <-ctx.Done():
	}
	a.draining.Store(true)
	select {
	case err := <-failed:
		return errors.Join(err, closeAll(doors))
	case <-time.After(a.cfg.ShutdownDrain):
	}
	a.hub.Close() // streams would never end by themselves
	limit, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	ends := make(chan error, len(doors))
	for _, d := range doors {
		go func() { ends <- d.shut(limit) }()
	}
	var errs []error
	for range doors {
		errs = append(errs, <-ends)
	}
	return errors.Join(errs...)
}

// door is one listener at work.
type door struct {
	gate *gate
	// listener is the gate, or TLS in front of it.
	listener net.Listener
	conns    *connections
	srv      *http.Server
	closed   chan struct{} // nobody comes in any more
}

// open makes the door to what handler answers.
func (a *App) open(l net.Listener, handler http.Handler) *door {
	d := &door{gate: newGate(l), conns: new(connections), closed: make(chan struct{})}
	d.listener = d.gate
	d.srv = &http.Server{
		ConnState: d.conns.note,
		Handler:   handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(a.edges.Log.Handler(), slog.LevelDebug),
	}
	return d
}

// shut lets nobody in any more, and waits until every request has its answer or
// limit ends.
func (d *door) shut(limit context.Context) error {
	d.gate.shut()
	<-d.closed // from here on no connection is added
	d.srv.SetKeepAlivesEnabled(false)
	d.conns.wait(limit)
	if err := d.srv.Shutdown(limit); err != nil {
		return errors.Join(err, d.srv.Close())
	}
	return nil
}

func closeAll(doors []*door) error {
	var errs []error
	for _, d := range doors {
		errs = append(errs, d.srv.Close())
	}
	return errors.Join(errs...)
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
