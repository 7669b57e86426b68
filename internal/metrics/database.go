package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

const (
	// scrapeTimeout limits the time of the database queries of one scrape.
	scrapeTimeout = 3 * time.Second
	// backlogLimit bounds the rows that one scrape counts per lane.
	backlogLimit = 10_000
)

// Source provides the metrics that the database holds. Each call reads a bounded number
// of index rows.
type Source interface {
	// Backlog returns how many deliveries of a lane are queued, counted up to limit,
	// and since when the oldest should have left, or zero if none is queued.
	Backlog(ctx context.Context, lane message.Lane, limit int) (queued int, oldest time.Time, err error)
	// Failures is how many calls of this process the database could not serve.
	Failures() uint64
	// Pools returns the connections of this process by pool.
	Pools() map[string]database.Pool
	// Writable returns an error if the database does not respond or takes no writes.
	Writable(ctx context.Context) error
}

var (
	up = prometheus.NewDesc("touchline_database_up",
		"1 if the database responds and takes writes, 0 if not.", nil, nil)
	failures = prometheus.NewDesc("touchline_database_errors_total",
		"Calls of this process that the database could not serve: it was down, full or too slow.", nil, nil)
	waiting = prometheus.NewDesc("touchline_outbox_waiting",
		"Queued deliveries, of all replicas; 10000 means 10000 or more.", []string{"channel", "kind"}, nil)
	late = prometheus.NewDesc("touchline_outbox_late_seconds",
		"Time since the oldest queued delivery was due for its first attempt; a held one is not late.", []string{"channel", "kind"}, nil)
)

// databaseCollector reads the database at each scrape.
type databaseCollector struct{ Sources }

// Describe implements prometheus.Collector.
func (c databaseCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{up, failures, waiting, late} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. If the database does not respond or takes no
// writes, it reports touchline_database_up 0. It omits the outbox if a lane cannot be read.
func (c databaseCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	// The outbox is read first: a blocked test write takes the rest of scrapeTimeout.
	value := 1.0
	outbox, err := c.outbox(ctx)
	if err != nil {
		value = 0
	}
	for _, m := range outbox {
		ch <- m
	}
	if c.writable(ctx) != nil {
		value = 0
	}
	ch <- gauge(up, value)
	ch <- prometheus.MustNewConstMetric(failures, prometheus.CounterValue, float64(c.Database.Failures()))
}

// writable returns at the end of ctx, although a test write on SQLite may take longer.
func (c databaseCollector) writable(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- c.Database.Writable(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// outbox returns the metrics of every lane, or an error and none.
func (c databaseCollector) outbox(ctx context.Context) ([]prometheus.Metric, error) {
	var all []prometheus.Metric
	for _, lane := range c.Lanes {
		queued, oldest, err := c.Database.Backlog(ctx, lane, backlogLimit)
		if err != nil {
			return nil, err
		}
		age := 0.0
		if !oldest.IsZero() {
			age = max(0, c.Now().Sub(oldest).Seconds())
		}
		all = append(all,
			gauge(waiting, float64(queued), string(lane.Channel), string(lane.Kind)),
			gauge(late, age, string(lane.Channel), string(lane.Kind)))
	}
	return all, nil
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}
