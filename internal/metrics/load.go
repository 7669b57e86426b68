package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/internal/inflight"
)

// Load says how busy the process is.
type Load struct {
	// Connections returns the open connections, by listener.
	Connections map[string]func() float64
	InFlight    func() inflight.Stats
	Streams     func() int
}

var (
	connections = prometheus.NewDesc("touchline_http_connections",
		"Open connections.", []string{"listener"}, nil)
	inFlight = prometheus.NewDesc("touchline_http_in_flight",
		"Requests in flight on the public listener, without uploads, downloads, streams and health checks.", nil, nil)
	inFlightLimit = prometheus.NewDesc("touchline_http_in_flight_limit",
		"Limit of the requests in flight; it adapts unless MAX_IN_FLIGHT is set.", nil, nil)
	inFlightWaiting = prometheus.NewDesc("touchline_http_in_flight_waiting",
		"Requests that wait because the limit is reached.", nil, nil)
	overloaded = prometheus.NewDesc("touchline_http_overloaded_total",
		"Requests refused with 503 overloaded because too many were in flight.", nil, nil)
	streams = prometheus.NewDesc("touchline_streams",
		"Open event streams.", nil, nil)
)

// loadCollector reads the load at each scrape.
type loadCollector struct{ Load }

// Describe implements prometheus.Collector.
func (c loadCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{connections, inFlight, inFlightLimit, inFlightWaiting, overloaded, streams} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c loadCollector) Collect(ch chan<- prometheus.Metric) {
	for listener, count := range c.Connections {
		ch <- gauge(connections, count(), listener)
	}
	if c.InFlight != nil {
		s := c.InFlight()
		ch <- gauge(inFlight, float64(s.Running))
		ch <- gauge(inFlightLimit, float64(s.Limit))
		ch <- gauge(inFlightWaiting, float64(s.Waiting))
		ch <- prometheus.MustNewConstMetric(overloaded, prometheus.CounterValue, float64(s.Refused))
	}
	if c.Streams != nil {
		ch <- gauge(streams, float64(c.Streams()))
	}
}
