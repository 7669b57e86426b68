package main

import (
	"context"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/server"
)

// replica is one process of the service, with its own clock.
type replica struct {
	app           *server.App
	public, admin http.Handler
	skew          time.Duration
}

// start starts a process. The others go on.
func (s *service) start(skew time.Duration) {
	p := &replica{skew: skew}
	app, err := server.Open(context.Background(), s.config, server.Options{
		Now: func() time.Time { return s.run.clock.now.Add(p.skew) }, NewTicker: neverTicks,
		NewID: func() string { return s.run.clock.newID(p.skew) }, Log: s.logger,
	})
	if err != nil {
		s.run.fail("the service starts", "%v", err)
	}
	p.app = app
	p.public, p.admin = app.Handlers()
	s.replicas = append(s.replicas, p)
	s.clocksDiffered()
}

// clocksDiffered reports whether there were two processes a short time ago.
func (s *service) clocksDiffered() bool {
	if len(s.replicas) > 1 {
		s.two = s.run.clock.now
	}
	return s.run.clock.now.Sub(s.two) < hour
}

// one returns the process that gets the next call.
func (s *service) one() *replica {
	if len(s.replicas) == 1 {
		return s.replicas[0]
	}
	return one(s.run, s.replicas)
}

// close ends each process as SIGTERM does, but for the first n.
func (s *service) close(n int) (err error) {
	for _, p := range s.replicas[n:] {
		if e := p.app.Close(); err == nil {
			err = e
		}
	}
	s.replicas = s.replicas[:n]
	return err
}

// work lets the worker of one process do what is due, at midnight also that of the other one. If the processes end meanwhile, the worker of the next one does.
func (s *service) work(longest time.Duration) {
	workers := []*replica{s.one()}
	if longest > time.Minute {
		workers = s.replicas
	}
	for i, p := range workers {
		if i > 0 {
			longest = time.Minute
		}
		p.app.Work(context.Background(), longest)
	}
	if s.restartIfEnded() {
		s.replicas[0].app.Work(context.Background(), longest)
	}
}

// now is the clock of the first process.
func (s *service) now() time.Time { return s.run.clock.now.Add(s.replicas[0].skew) }
