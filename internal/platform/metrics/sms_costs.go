package metrics

import (
	"context"
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// SMSCosts are the costs of SMS.
type SMSCosts struct {
	// Spent returns the costs of the last 24 h. If it fails, the metric is not a number.
	Spent func(context.Context) (float64, error)
	// Budget is 0 without one.
	Budget float64
}

func (c *SMSCosts) collectors() []prometheus.Collector {
	costs := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "touchline", Name: "sms_cost", Help: "Cost of SMS in the last 24 h at SMS_PRICES, of all replicas.",
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
		Namespace: "touchline", Name: "sms_budget", Help: "SMS_BUDGET; 0 is no budget.",
	})
	limit.Set(c.Budget)
	return []prometheus.Collector{costs, limit}
}
