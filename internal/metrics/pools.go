package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/internal/platform/database"
)

var (
	pool          = []string{"pool"}
	poolLimit     = prometheus.NewDesc("touchline_database_connections_limit", "Most connections of this process to the database.", pool, nil)
	poolInUse     = prometheus.NewDesc("touchline_database_connections_in_use", "Connections of this process that a call uses.", pool, nil)
	poolWaits     = prometheus.NewDesc("touchline_database_waits_total", "Calls that waited for a connection, or on SQLite for the writer.", pool, nil)
	poolWaited    = prometheus.NewDesc("touchline_database_wait_seconds_total", "Time that calls waited for a connection, or on SQLite for the writer.", pool, nil)
	certificateAt = prometheus.NewDesc("touchline_certificate_expiry_timestamp_seconds", "When a TLS certificate of this process ends: of TLS_CERT, or of a domain of TLS_AUTOCERT_DOMAINS.", []string{"name"}, nil)
)

// processCollector reads what the process has in memory at each scrape.
type processCollector struct {
	pools        func() map[string]database.Pool
	certificates func() map[string]time.Time
}

// Describe implements prometheus.Collector.
func (c processCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{poolLimit, poolInUse, poolWaits, poolWaited, certificateAt} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c processCollector) Collect(ch chan<- prometheus.Metric) {
	for name, p := range c.pools() {
		ch <- gauge(poolLimit, float64(p.Limit), name)
		ch <- gauge(poolInUse, float64(p.InUse), name)
		ch <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(p.Waits), name)
		ch <- prometheus.MustNewConstMetric(poolWaited, prometheus.CounterValue, p.Waited.Seconds(), name)
	}
	if c.certificates == nil {
		return
	}
	for name, end := range c.certificates() {
		ch <- gauge(certificateAt, float64(end.Unix()), name)
	}
}
