// Package metrics counts what this process does, for Prometheus: requests by route,
// OTPs, sessions, decisions, deliveries and database errors. The wrappers of the stores, here
// and in package securitylog, increment the counters, so that no domain package depends on
// this one. Label values come from fixed lists and identify no person.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// Metrics holds the counters of one process. It is safe for concurrent use.
type Metrics struct {
	build      *prometheus.GaugeVec
	requests   *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	otps       *prometheus.CounterVec
	sessions   *prometheus.CounterVec
	decisions  *prometheus.CounterVec
	onCoach    *prometheus.CounterVec
	deliveries *prometheus.CounterVec
	webhooks   *prometheus.CounterVec
	sends      *prometheus.CounterVec
	receipts   *prometheus.CounterVec
	expansions *prometheus.CounterVec
	unplaced   *prometheus.CounterVec
	files      *prometheus.CounterVec
	jobs       *prometheus.CounterVec
	jobLast    *prometheus.GaugeVec
	logStopped prometheus.Gauge
	logFailing *prometheus.GaugeVec
}

// buckets are seconds. Most handlers take less than the first on an idle machine; the
// timeout of a request is the last.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 10}

// New returns the metrics of a process that runs the program build.
func New(build buildinfo.Info) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "touchline", Name: name, Help: help}, labels)
	}
	m := &Metrics{
		build: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "touchline", Name: "build_info", Help: "1, with the release, the commit and the Go version of the program as labels.",
		}, []string{"version", "revision", "goversion"}),
		requests: counter("http_requests_total", "Requests by route pattern; the route of an unknown path is empty.", "listener", "method", "route", "status"),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "touchline", Name: "http_request_duration_seconds", Help: "Duration of requests, without event streams, which stay open.", Buckets: buckets,
		}, []string{"listener", "route"}),
		otps:       counter("otp_total", "OTP requests and attempts by outcome.", "outcome"),
		sessions:   counter("sessions_total", "Session events.", "event"),
		decisions:  counter("decisions_total", "Recorded decisions of guardians and students.", "party", "action"),
		onCoach:    counter("approvals_on_coach_device_total", "Approvals on a device that had signed in as the coach who asked.", "party"),
		deliveries: counter("deliveries_total", "Delivery attempts by channel, kind and outcome.", "channel", "kind", "outcome"),
		webhooks:   counter("webhook_attempts_total", "Attempts to send a message to a webhook by outcome.", "outcome"),
		sends:      counter("sms_attempts_total", "Attempts to send an SMS by provider and outcome: sent, failed or refused.", "provider", "outcome"),
		receipts:   counter("sms_receipts_total", "Receipts that changed a delivery, by provider: delivered, unreachable or undeliverable.", "provider", "receipt"),
		files:      counter("file_store_operations_total", "Operations of the file store by outcome: ok, missing or failed.", "operation", "outcome"),
		jobs:       counter("job_runs_total", "Runs of background jobs by outcome: ok or failed.", "name", "outcome"),
		expansions: counter("message_expansion_failures_total", "Failed attempts to give the recipients of a coach's message their deliveries."),
	}
	m.unplaced = counter("whatsapp_replies_unplaced_total", "Replies by WhatsApp that named no known number and were not handled.")
	m.unplaced.WithLabelValues()
	m.jobLast = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "touchline", Name: "job_success_timestamp_seconds", Help: "When a background job of this process last succeeded, or was started.",
	}, []string{"name"})
	m.logStopped = prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "touchline", Name: "log_stopped", Help: "1 while the log of consents signs no checkpoint, because it contradicts the last one."})
	m.logFailing = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "touchline", Name: "log_destination_failing_seconds", Help: "For how long a witness has accepted no checkpoint; 0 while it accepts them.",
	}, []string{"destination"})
	m.expansions.WithLabelValues() // a scrape has it before the first failure
	m.build.WithLabelValues(build.Release, build.Commit, build.Go).Set(1)
	m.startAtZero()
	return m
}

// startAtZero creates the series on which alerts look for growth. Prometheus sees no growth
// from a missing series to 1.
func (m *Metrics) startAtZero() {
	for _, outcome := range outcomes {
		m.otps.WithLabelValues(outcome)
	}
	for _, outcome := range []string{"issued", "refused", "fraud_suspected"} {
		m.otps.WithLabelValues(outcome)
	}
	for _, event := range []string{"opened", "refreshed", "reused", "ended", "ended_all"} {
		m.sessions.WithLabelValues(event)
	}
	for _, outcome := range webhookOutcomes {
		m.webhooks.WithLabelValues(outcome)
	}
}

// Sources are the sources of a scrape beside the counters.
type Sources struct {
	Database Source
	// Lanes are the lanes of the outbox.
	Lanes []message.Lane
	Load  Load
	// Costs are the budget lines, none if the prices are not known.
	Costs []Costs
	// Certificates returns the ends of the TLS certificates by name; nil has none.
	Certificates func() map[string]time.Time
	Now          func() time.Time
}

// Registry has all metrics of a process.
type Registry = prometheus.Registry

// Registry returns the counters with s, which it reads at each scrape.
func (m *Metrics) Registry(s Sources) *Registry {
	for _, lane := range s.Lanes {
		for _, outcome := range []string{"sent", "retried", "failed", "dropped"} {
			m.deliveries.WithLabelValues(string(lane.Channel), string(lane.Kind), outcome)
		}
	}
	r := prometheus.NewRegistry()
	r.MustRegister(
		m.build, m.requests, m.durations, m.otps, m.sessions, m.decisions, m.onCoach, m.deliveries, m.webhooks, m.sends, m.receipts, m.expansions, m.unplaced, m.files, m.jobs, m.jobLast, m.logStopped, m.logFailing,
		databaseCollector{s}, loadCollector{s.Load}, processCollector{s.Database.Pools, s.Certificates},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, c := range s.Costs {
		r.MustRegister(c.collectors()...)
	}
	return r
}

// Handler serves a registry. It limits concurrent scrapes to two, because each one queries the database.
func Handler(r *Registry) http.Handler {
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{Registry: r, MaxRequestsInFlight: 2, Timeout: 8 * time.Second, EnableOpenMetrics: true})
}

// LogStopped sets whether the log of consents has stopped.
func (m *Metrics) LogStopped(stopped bool) {
	m.logStopped.Set(0)
	if stopped {
		m.logStopped.Set(1)
	}
}

// CheckpointsFailing sets for how long a witness has accepted no checkpoint.
func (m *Metrics) CheckpointsFailing(destination string, since time.Duration) {
	m.logFailing.WithLabelValues(destination).Set(since.Seconds())
}

// ExpansionFailed counts a failed attempt to expand a message.
func (m *Metrics) ExpansionFailed() { m.expansions.WithLabelValues().Inc() }

// Observe returns a function that counts and measures the requests of one listener.
func (m *Metrics) Observe(listener string) func(method string, info *httpx.RequestInfo, took time.Duration) {
	return func(method string, info *httpx.RequestInfo, took time.Duration) {
		m.requests.WithLabelValues(listener, httpx.MethodLabel(method), info.Route, strconv.Itoa(info.Status)).Inc()
		if !info.Stream {
			m.observeDuration(m.durations.WithLabelValues(listener, info.Route), info, took)
		}
	}
}

// observeDuration observes the duration of a request. If its trace is exported, the bucket has its trace id as an exemplar.
func (m *Metrics) observeDuration(o prometheus.Observer, info *httpx.RequestInfo, took time.Duration) {
	if !info.Sampled {
		o.Observe(took.Seconds())
		return
	}
	o.(prometheus.ExemplarObserver).ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": info.TraceID})
}

// webhookOutcomes are the label values of the states of a message after an attempt.
var webhookOutcomes = map[string]string{"delivered": "delivered", "queued": "retried", "failed": "failed"}

// WebhookAttempted counts an attempt to send a message to a webhook by the state of the message.
func (m *Metrics) WebhookAttempted(state string) {
	m.webhooks.WithLabelValues(webhookOutcomes[state]).Inc()
}
