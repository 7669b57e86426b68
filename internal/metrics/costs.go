package metrics

import (
	"context"
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// Costs are the costs of a budget line: sms or call.
type Costs struct {
	Name string
	// Spent returns the costs of the last 24 h. If it fails, the metric is not a number.
	Spent func(context.Context) (float64, error)
	// Budget is 0 without one.
	Budget float64
}

func (c Costs) collectors() []prometheus.Collector {
	costs := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "touchline", Name: c.Name + "_cost", Help: "Cost in the last 24 h at SMS_PRICES, of all replicas.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		value, err := c.Spent(ctx)
		if err != nil {
			return math.NaN()
		}
		return value
	})
	limit := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: "touchline", Name: c.Name + "_budget", Help: "Budget in SMS_BUDGET; 0 is no budget.",
	})
	limit.Set(c.Budget)
	return []prometheus.Collector{costs, limit}
}
