// Package metrics counts what this process does, for Prometheus: requests by route,
// OTPs, sessions, decisions, deliveries and database errors. The wrappers of the stores,
// here and in package securitylog, count, so no domain package depends on it. Label values
// come from fixed lists and identify no person.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/touchline/touchline/internal/buildinfo"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/notify"
)

// Metrics holds the metrics of one process. It is safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	otps       *prometheus.CounterVec
	sessions   *prometheus.CounterVec
	decisions  *prometheus.CounterVec
	deliveries *prometheus.CounterVec
	webhooks   *prometheus.CounterVec
	sends      *prometheus.CounterVec
	receipts   *prometheus.CounterVec
}

// buckets are seconds. Most handlers take less than the first on an idle machine; the
// timeout of a request is the last.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 10}

// New returns the metrics of a process that uses the database of source. lanes are those
// of the outbox, build is the program.
func New(build buildinfo.Info, source Source, lanes []notify.Lane, load Load, now func() time.Time) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "touchline", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("http_requests_total", "Requests by route pattern; the route of an unknown path is empty.", "listener", "method", "route", "status"),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "touchline", Name: "http_request_duration_seconds", Help: "Duration of requests, without event streams, which stay open.", Buckets: buckets,
		}, []string{"listener", "route"}),
		otps:       counter("otp_total", "OTP requests and attempts by outcome.", "outcome"),
		sessions:   counter("sessions_total", "Session events.", "event"),
		decisions:  counter("decisions_total", "Recorded decisions of guardians and students.", "party", "action"),
		deliveries: counter("deliveries_total", "Delivery attempts by channel, kind and outcome.", "channel", "kind", "outcome"),
		webhooks:   counter("webhook_attempts_total", "Attempts to send a message to a webhook by outcome.", "outcome"),
		sends:      counter("sms_attempts_total", "Attempts to send an SMS by provider and outcome: sent, failed or refused.", "provider", "outcome"),
		receipts:   counter("sms_receipts_total", "Receipts that changed a delivery, by provider: delivered, unreachable or undeliverable.", "provider", "receipt"),
	}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "touchline", Name: "build_info", Help: "1, with the release, the commit and the Go version of the program as labels.",
	}, []string{"version", "revision", "goversion"})
	info.WithLabelValues(build.Release, build.Commit, build.Go).Set(1)
	m.registry.MustRegister(
		info,
		m.requests, m.durations, m.otps, m.sessions, m.decisions, m.deliveries, m.webhooks, m.sends, m.receipts, &databaseCollector{source: source, lanes: lanes, now: now}, loadCollector{load},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Handler serves the metrics. It limits concurrent scrapes to two, because each one
// queries the database.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, MaxRequestsInFlight: 2, Timeout: 8 * time.Second, EnableOpenMetrics: true})
}

// Observe returns a function that counts and measures the requests of one listener.
func (m *Metrics) Observe(listener string) func(method string, info *httpx.RequestInfo, took time.Duration) {
	return func(method string, info *httpx.RequestInfo, took time.Duration) {
		m.requests.WithLabelValues(listener, httpx.MethodLabel(method), info.Route, strconv.Itoa(info.Status)).Inc()
		if !info.Stream {
			m.durations.WithLabelValues(listener, info.Route).Observe(took.Seconds())
		}
	}
}
