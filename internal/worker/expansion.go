package worker

import (
	"context"

	"github.com/touchline/touchline/internal/platform/fault"
)

// Expansion gives the recipients of accepted messages their deliveries, some at a time.
type Expansion struct {
	// Next handles the next recipients of the oldest message, in one transaction. It returns
	// false if there are none.
	Next func(ctx context.Context) (more bool, err error)
	// Failed counts an attempt that failed; nil counts none. It is not called while the database
	// is unavailable, which has its own metric.
	Failed func()
	// Signal is woken when a message is accepted. Every process also looks each second.
	Signal *Signal
}

// expand handles accepted messages until ctx ends.
func (w *Worker) expand(ctx context.Context) {
	e := w.config.Expand
	ticks, stop := w.config.NewTicker(expansionEvery)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		case <-e.Signal.woken:
		}
		for more := true; more && ctx.Err() == nil; {
			err := Recovered(func() (err error) {
				more, err = e.Next(ctx)
				return err
			})
			if err != nil {
				if ctx.Err() == nil {
					if e.Failed != nil && fault.KindOf(err) != fault.Unavailable {
						e.Failed()
					}
					w.config.Log.Warn("a background job failed and will run again", "job", "expand messages", "error", err)
				}
				break
			}
		}
	}
}
