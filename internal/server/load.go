package server

import (
	"log/slog"

	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/inflight"
)

// operatorConnections limits the connections of the operators' listener, which this
// limit keeps reachable while the public listener is full.
const operatorConnections = 1000

// load counts and limits what clients do at the same time.
type load struct {
	inFlight          *inflight.Limits
	public, operators *connections
}

func newLoad(cfg *config.Config, log *slog.Logger) *load {
	return &load{
		inFlight:  inflight.NewLimits(cfg.InFlightLimit()),
		public:    newConnections(cfg.MaxConnections, cfg.TrustedProxies, log),
		operators: newConnections(operatorConnections, cfg.TrustedProxies, log),
	}
}

func (l *load) metrics(hub *notice.Hub) metrics.Load {
	return metrics.Load{
		Connections:      map[string]func() float64{"public": l.public.count, "operators": l.operators.count},
		ConnectionLimits: map[string]int{"public": l.public.limit, "operators": l.operators.limit},
		InFlight:         map[string]func() inflight.Stats{"read": l.inFlight.Reads.Stats, "write": l.inFlight.Writes.Stats},
		Streams:          hub.Streams, StreamsLimit: hub.MaxStreams,
	}
}
