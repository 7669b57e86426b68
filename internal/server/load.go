package server

import (
	"net"
	"net/http"
	"sync/atomic"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/inflight"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/notify"
)

// operatorConnections limits the connections of the operators' listener, which this
// limit keeps reachable while the public listener is full.
const operatorConnections = 1000

// load counts and limits what clients do at the same time.
type load struct {
	inFlight          *inflight.Limits
	public, operators connections
}

func newLoad(cfg *config.Config) *load {
	return &load{
		inFlight:  inflight.NewLimits(cfg.InFlightLimit()),
		public:    connections{limit: cfg.MaxConnections},
		operators: connections{limit: operatorConnections},
	}
}

func (l *load) metrics(hub *notify.Hub) metrics.Load {
	return metrics.Load{
		Connections: map[string]func() float64{"public": l.public.count, "operators": l.operators.count},
		InFlight:    map[string]func() inflight.Stats{"read": l.inFlight.Reads.Stats, "write": l.inFlight.Writes.Stats},
		Streams:     hub.Streams,
	}
}

// connections counts the open connections of one listener.
type connections struct {
	limit int // more wait for one to close
	open  atomic.Int64
}

// observe is the ConnState of an http.Server.
func (c *connections) observe(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		c.open.Add(-1)
	}
}

func (c *connections) count() float64 { return float64(c.open.Load()) }
