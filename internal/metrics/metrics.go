// Package metrics counts what this process does, for Prometheus: requests by
// route, codes, sessions, decisions, what leaves, and what the database refuses.
// It watches from outside: it wraps the stores that the features are given, and
// no feature knows of it. Labels have few values, all of them ours, and none is
// about a person.
package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/notify"
)

// Metrics are those of one process. Safe for concurrent use.
type Metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	otps      *prometheus.CounterVec
	sessions  *prometheus.CounterVec
	decisions *prometheus.CounterVec
	sent      *prometheus.CounterVec

	// series are the counters of requests by what they are of: finding them so
	// costs a third of asking the vectors.
	series sync.Map // of of to *series
}

// of is what a request is counted by.
type of struct {
	listener, method, route string
	status                  int
}

type series struct {
	count prometheus.Counter
	took  prometheus.Observer
}

// buckets are seconds: what a handler takes on a quiet machine is below the
// first, and a call ends after 10.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 10}

// New returns Metrics of a process on source's database. lanes are those of the outbox.
func New(source Source, lanes []notify.Lane, now func() time.Time) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "touchline", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("http_requests_total", "Requests that were answered, by the pattern of the route; an empty one is a path that is not there.", "listener", "method", "route", "status"),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "touchline", Name: "http_request_duration_seconds", Help: "How long answers took; a stream takes as long as it is open.", Buckets: buckets,
		}, []string{"listener", "route"}),
		otps:      counter("otp_total", "Codes that were asked for, and guesses at them, by what became of them.", "outcome"),
		sessions:  counter("sessions_total", "Sessions that began, were refreshed, or were ended.", "event"),
		decisions: counter("decisions_total", "Decisions of guardians and students that were recorded.", "party", "action"),
		sent:      counter("deliveries_total", "Attempts to send a message, by channel, kind and result.", "channel", "kind", "outcome"),
	}
	m.registry.MustRegister(
		m.requests, m.durations, m.otps, m.sessions, m.decisions, m.sent, &database{source: source, now: now, lanes: lanes},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Handler answers with the figures. Two at a time are enough for any set-up, and
// keep a third from asking the database.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, MaxRequestsInFlight: 2, Timeout: 8 * time.Second, EnableOpenMetrics: true})
}

// Observe returns what counts the requests of one listener.
func (m *Metrics) Observe(listener string) func(method string, info *httpx.RequestInfo, took time.Duration) {
	return func(method string, info *httpx.RequestInfo, took time.Duration) {
		s := m.find(of{listener, known(method), info.Route, info.Status})
		s.count.Inc()
		s.took.Observe(took.Seconds())
	}
}

func (m *Metrics) find(key of) *series {
	if s, ok := m.series.Load(key); ok {
		return s.(*series)
	}
	s, _ := m.series.LoadOrStore(key, &series{
		count: m.requests.WithLabelValues(key.listener, key.method, key.route, strconv.Itoa(key.status)),
		took:  m.durations.WithLabelValues(key.listener, key.route),
	})
	return s.(*series)
}

// known bounds the methods, which callers may make up.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}
