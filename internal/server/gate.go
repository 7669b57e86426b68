package server

import (
	"net"
	"sync/atomic"
)

// gate is a listener that closes without turning away whoever has come in: the
// system has made a connection, and its client may have sent a request, before
// Accept hands it out, and closing a listener breaks all that still wait.
type gate struct {
	net.Listener
	closing atomic.Bool
	// shutting closes once waiting, which Accept alone touches from then on,
	// holds those whom the gate was shut before.
	shutting chan struct{}
	waiting  []net.Conn
}

func newGate(l net.Listener) *gate { return &gate{Listener: l, shutting: make(chan struct{})} }

// Accept returns the next connection, and after shut those that still waited.
func (g *gate) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err == nil || !g.closing.Load() {
		return conn, err
	}
	<-g.shutting
	if len(g.waiting) == 0 {
		return nil, net.ErrClosed
	}
	conn, g.waiting = g.waiting[0], g.waiting[1:]
	return conn, nil
}

// shut lets nobody in any more, and has Accept hand out who waits. It is called
// once.
func (g *gate) shut() {
	g.closing.Store(true)
	g.waiting = takeWaiting(g.Listener)
	_ = g.Listener.Close()
	close(g.shutting)
}
