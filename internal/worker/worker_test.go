package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/worker"
)

// The periodic work goes on whatever one look answers, and a stop waits for it.
func TestPeriodicWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		digests, keys, sweeps, ended := 0, 0, 0, false
		w := &worker.Worker{
			Outbox: &worker.Outbox{
				Store: new(shelf), Now: time.Now, NewID: func() string { return "lease" }, Log: slog.New(slog.DiscardHandler),
			},
			// Full batches are followed at once by the next.
			Digests: func(_ context.Context, n int) (int, error) {
				if digests++; digests%3 != 0 {
					return n, nil
				}
				if digests%2 == 0 {
					panic("oops")
				}
				return 0, errors.New("away")
			},
			Keys: func(context.Context) error {
				keys++
				return errors.New("away")
			},
			Expiries:   func(context.Context, int) (int, error) { return 0, nil },
			SweepFiles: func(context.Context) (int64, error) { return 0, nil },
			Sweep: func(context.Context) (int64, error) {
				sweeps++
				time.Sleep(3 * time.Second)
				ended = true
				return 1, nil
			},
			Log: slog.New(slog.DiscardHandler),
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Run(ctx)
		}()
		time.Sleep(10*time.Minute + time.Second/2)
		synctest.Wait()
		if digests != 3*600 || keys != 10 || sweeps != 1 {
			t.Errorf("%d digests, %d keys, %d sweeps in ten minutes", digests, keys, sweeps)
		}
		cancel()
		<-done
		if !ended {
			t.Error("the stop did not wait for the sweep")
		}
	})
}
