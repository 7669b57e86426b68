package metrics

import (
	"context"
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// WatchSMSCosts adds the costs of SMS in the last 24 h, as spent returns them at each
// scrape, and the budget, or 0 without one. If spent fails, the costs are not a number.
func (m *Metrics) WatchSMSCosts(spent func(context.Context) (float64, error), budget float64) {
	costs := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "touchline", Name: "sms_cost", Help: "Cost of SMS in the last 24 h at SMS_PRICES, of all replicas.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		value, err := spent(ctx)
		if err != nil {
			return math.NaN()
		}
		return value
	})
	limit := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: "touchline", Name: "sms_budget", Help: "SMS_BUDGET; 0 is no budget.",
	})
	limit.Set(budget)
	m.registry.MustRegister(costs, limit)
}
