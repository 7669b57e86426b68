package server

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/notice"
)

// shutdownTimeout limits the time that requests have to finish after the drain.
const shutdownTimeout = 30 * time.Second

// Serve serves the API on public and, unless operators is nil, the operators' API on
// operators, and runs the worker, until ctx ends. Then it shuts down: /readyz answers
// 503, the listeners stay open for the drain time so that load balancers notice, and
// active requests finish. If one listener fails, Serve closes both.
func (a *App) Serve(ctx context.Context, public, operators net.Listener) error {
	servers := []*httpServer{a.newHTTPServer(public, a.api, a.load.public)}
	if operators != nil {
		servers = append(servers, a.newHTTPServer(operators, a.admin, a.load.operators))
	}
	if !a.silent {
		defer a.startBackground()()
	}

	failed := make(chan error, len(servers))
	for _, s := range servers {
		go func() { failed <- s.serve() }()
	}
	if a.acme != nil && !a.silent {
		go a.acme.prepare() // ends by itself, after some minutes at most
	}
	if err := a.waitAndDrain(ctx, failed); err != nil {
		return errors.Join(err, closeAll(servers))
	}
	// End the event streams and the calls that wait: Shutdown would wait for them.
	a.hub.Close()
	a.waiting.Close()
	return shutdownAll(servers)
}

// lastRecordTimeout limits the last write of the counts of introspections.
const lastRecordTimeout = 5 * time.Second

// startBackground runs the worker, the LISTEN connection and the reader of the event streams. The returned function
// stops them and the reading of files of players, waits for them, frees the slots of the ended streams, and records the last
// introspections.
func (a *App) startBackground() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { a.worker.Run(ctx) })
	wait.Go(func() { a.db.Listen(ctx) })
	wait.Go(func() {
		poll, stop := a.newTicker(notice.StreamPoll)
		defer stop()
		a.streams.Run(ctx, poll)
	})
	return func() {
		cancel()
		wait.Go(a.players.Stop)
		wait.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), lastRecordTimeout)
		defer cancel()
		if err := a.streams.End(ctx); err != nil {
			a.log.Warn("free the slots of the streams; they expire by themselves", "error", err)
		}
		if err := a.operators.RecordIntrospections(ctx); err != nil {
			a.log.Warn("record the last introspections in the audit log", "error", err)
		}
	}
}

// waitAndDrain waits for ctx to end, and then for the drain time, while the listeners
// accept connections. It returns the error of a listener that fails meanwhile.
func (a *App) waitAndDrain(ctx context.Context, failed <-chan error) error {
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	a.readiness.draining.Store(true)
	select {
	case err := <-failed:
		return err
	case <-time.After(a.cfg.ShutdownDrain):
		return nil
	}
}
