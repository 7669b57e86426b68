package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/internal/platform/inflight"
)

// Load says how busy the process is.
type Load struct {
	// Connections returns the open connections, by listener.
	Connections map[string]func() float64
	// ConnectionLimits are the most open connections, by listener.
	ConnectionLimits map[string]int
	// InFlight returns the requests in flight, by kind: read or write.
	InFlight map[string]func() inflight.Stats
	Streams  func() int
	// StreamsLimit is the most open event streams.
	StreamsLimit int
}

var (
	kind        = []string{"kind"}
	connections = prometheus.NewDesc("touchline_http_connections",
		"Open connections.", []string{"listener"}, nil)
	connectionsLimit = prometheus.NewDesc("touchline_http_connections_limit",
		"Most open connections.", []string{"listener"}, nil)
	inFlight = prometheus.NewDesc("touchline_http_in_flight",
		"Requests in flight on the public listener, without uploads, downloads, streams and health checks.", kind, nil)
	inFlightLimit = prometheus.NewDesc("touchline_http_in_flight_limit",
		"Limit of the requests in flight; it adapts unless MAX_IN_FLIGHT is set.", kind, nil)
	inFlightWaiting = prometheus.NewDesc("touchline_http_in_flight_waiting",
		"Requests that wait because the limit is reached.", kind, nil)
	overloaded = prometheus.NewDesc("touchline_http_overloaded_total",
		"Requests refused with 503 overloaded because too many were in flight.", kind, nil)
	streams = prometheus.NewDesc("touchline_streams",
		"Open event streams.", nil, nil)
	streamsLimit = prometheus.NewDesc("touchline_streams_limit",
		"Most open event streams.", nil, nil)
)

// loadCollector reads the load at each scrape.
type loadCollector struct{ Load }

// Describe implements prometheus.Collector.
func (c loadCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{connections, connectionsLimit, inFlight, inFlightLimit, inFlightWaiting, overloaded, streams, streamsLimit} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c loadCollector) Collect(ch chan<- prometheus.Metric) {
	for listener, count := range c.Connections {
		ch <- gauge(connections, count(), listener)
	}
	for listener, limit := range c.ConnectionLimits {
		ch <- gauge(connectionsLimit, float64(limit), listener)
	}
	for kind, stats := range c.InFlight {
		s := stats()
		ch <- gauge(inFlight, float64(s.Running), kind)
		ch <- gauge(inFlightLimit, float64(s.Limit), kind)
		ch <- gauge(inFlightWaiting, float64(s.Waiting), kind)
		ch <- prometheus.MustNewConstMetric(overloaded, prometheus.CounterValue, float64(s.Refused), kind)
	}
	if c.Streams != nil {
		ch <- gauge(streams, float64(c.Streams()))
		ch <- gauge(streamsLimit, float64(c.StreamsLimit))
	}
}
