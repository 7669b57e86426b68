package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/worker"
)

// newTicker ticks with the clock of the synctest bubble.
func newTicker(period time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(period)
	return t.C, t.Stop
}

// Jobs continue after errors and panics. A shutdown waits for the running job.
func TestPeriodicJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		digests, rotations, sweeps, swept, expansions, failedExpansions := 0, 0, 0, false, 0, 0
		log := slog.New(slog.DiscardHandler)
		w := worker.New(worker.Config{
			Outbox: worker.NewOutbox(worker.OutboxConfig{
				Store: new(fakeStore), Signal: message.NewQueueSignal(), Now: time.Now, NewTicker: newTicker, NewID: func() string { return "lease" }, Log: log,
			}),
			Jobs: []worker.Job{
				{Name: "send digests", Every: time.Second, Run: worker.InBatches(func(_ context.Context, n int) (int, error) {
					if digests++; digests%3 != 0 {
						return n, nil // a full batch: the next follows at once
					}
					if digests%2 == 0 {
						panic("oops")
					}
					return 0, errors.New("outage")
				})},
				{Name: "rotate keys", Every: 10 * time.Second, Run: func(context.Context) error {
					rotations++
					return errors.New("outage")
				}},
				{Name: "sweep", Every: 10 * time.Minute, Run: worker.Uncounted(func(context.Context) (int64, error) {
					sweeps++
					time.Sleep(3 * time.Second)
					swept = true
					return 1, nil
				})},
			},
			Expand: worker.Expansion{
				Signal: worker.NewSignal(), Failed: func() { failedExpansions++ },
				Next: func(context.Context) (bool, error) {
					expansions++
					switch expansions % 4 {
					case 1:
						return true, nil // more follows at once
					case 2:
						panic("oops")
					case 3:
						return false, fmt.Errorf("find a message: %w", fault.Down(errors.New("outage"))) // counts as an error of the database
					}
					return false, errors.New("damaged")
				},
			},
			NewTicker: newTicker, Log: log,
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Run(ctx)
		}()
		time.Sleep(10*time.Minute + time.Second/2)
		synctest.Wait()
		if digests != 3*600 || rotations != 60 || sweeps != 1 {
			t.Errorf("%d digests, %d rotations, %d sweeps in ten minutes; want 1800, 60, 1", digests, rotations, sweeps)
		}
		if expansions != 800 || failedExpansions != 400 { // two, one, one, two …
			t.Errorf("%d steps of expansions in ten minutes, %d counted as failed; want 800, 400", expansions, failedExpansions)
		}
		cancel()
		<-done
		if !swept {
			t.Error("the shutdown did not wait for the sweep")
		}
	})
}
