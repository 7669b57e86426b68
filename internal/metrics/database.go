package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/internal/notify"
)

// scrapeLimit is how long the database may take to say what it is asked.
const scrapeLimit = 3 * time.Second

// Source is what a scrape asks of the store. Each answer costs a bounded number of
// rows of an index, however much is kept.
type Source interface {
	// Backlog returns how many deliveries of a lane are queued, counted up to limit,
	// and the oldest due time, or zero if none is queued.
	Backlog(ctx context.Context, lane notify.Lane, limit int) (queued int, oldest time.Time, err error)
	// Failures is how often the database could not serve this process.
	Failures() uint64
	Ping(ctx context.Context) error
}

// backlogMost bounds what is counted: beyond it the figure says "at least".
const backlogMost = 10_000

var (
	up = prometheus.NewDesc("touchline_database_up",
		"Whether the database answers.", nil, nil)
	failures = prometheus.NewDesc("touchline_database_errors_total",
		"How often the database could not serve this process: away, full, or too slow.", nil, nil)
	waiting = prometheus.NewDesc("touchline_outbox_waiting",
		"Messages that wait to be sent, of all replicas; 10000 means 10000 or more.", []string{"channel", "kind"}, nil)
	late = prometheus.NewDesc("touchline_outbox_late_seconds",
		"Age of the oldest due message.", []string{"channel", "kind"}, nil)
)

// database is what is known of the database when somebody asks.
type database struct {
	source Source
	lanes  []notify.Lane
	now    func() time.Time
}

// Describe implements prometheus.Collector.
func (d *database) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{up, failures, waiting, late} {
		to <- desc
	}
}

// Collect implements prometheus.Collector. While the database is away it says so,
// and what else is known is there all the same.
func (d *database) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	answers := d.source.Ping(ctx) == nil
	for _, lane := range d.lanes {
		if !answers {
			break
		}
		n, oldest, err := d.source.Backlog(ctx, lane, backlogMost)
		if err != nil {
			answers = false
			break
		}
		gauge(waiting, float64(n), string(lane.Channel), string(lane.Kind))
		age := 0.0
		if !oldest.IsZero() {
			age = max(0, d.now().Sub(oldest).Seconds())
		}
		gauge(late, age, string(lane.Channel), string(lane.Kind))
	}
	is := 0.0
	if answers {
		is = 1
	}
	gauge(up, is)
	to <- prometheus.MustNewConstMetric(failures, prometheus.CounterValue, float64(d.source.Failures()))
}
