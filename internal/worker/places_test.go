package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/worker"
)

// handed queues an OTP as the store does for a place, and hands it over.
func (s *shelf) handed(p *worker.Place, c *auth.Challenge) *row {
	r := s.queue(notify.OTP)
	s.mu.Lock()
	lease, lasts := p.Lease()
	r.Lease, r.Attempts, r.due = lease, 1, time.Now().Add(lasts)
	d := r.Delivery
	s.mu.Unlock()
	p.Send(d, c)
	p.Free()
	return r
}

// A place sends at once what is handed over, with the code that comes with it;
// what fails comes back as anything else does.
func TestPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		var heals atomic.Bool
		o, stop := run(t, s, func(context.Context, worker.Message) error {
			if !heals.Load() {
				return errors.New("no such host")
			}
			return nil
		})
		synctest.Wait()
		r := s.handed(o.Reserve(), &auth.Challenge{ID: "handed", EndsAt: time.Now().Add(time.Hour)})
		synctest.Wait()
		if s.state(r) != "queued" || s.asked.Load() != 0 {
			t.Errorf("%s after %d questions", s.state(r), s.asked.Load())
		}
		heals.Store(true)
		time.Sleep(3 * time.Second)
		stop()
		if r.state != "sent" || r.Attempts != 2 || s.asked.Load() != 1 {
			t.Errorf("%s after %d attempts, %d questions", r.state, r.Attempts, s.asked.Load())
		}
	})
}

// There are as many places as there are, while Run runs; a stop waits for those
// that are taken.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		o, stop := run(t, s, func(context.Context, worker.Message) error {
			time.Sleep(10 * time.Second)
			return nil
		})
		synctest.Wait()
		var rows []*row
		for p := o.Reserve(); p != nil; p = o.Reserve() {
			rows = append(rows, s.handed(p, &auth.Challenge{}))
		}
		if len(rows) != worker.MaxPlaces {
			t.Errorf("%d places", len(rows))
		}
		time.Sleep(time.Second)
		start := time.Now()
		stop()
		if took := time.Since(start); took != 9*time.Second {
			t.Errorf("the stop took %s", took)
		}
		for _, r := range rows {
			if r.state != "sent" {
				t.Errorf("delivery %s is %s", r.ID, r.state)
			}
		}
		if o.Reserve() != nil {
			t.Error("there is a place after the end")
		}
	})
}

// A place that was given back, and one whose delivery panicked, serve again.
func TestPlaceServesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		o, _ := run(t, s, func(context.Context, worker.Message) error { panic("oops") })
		synctest.Wait()
		for range 3 * worker.MaxPlaces {
			o.Reserve().Free()
			s.handed(o.Reserve(), &auth.Challenge{})
			synctest.Wait()
		}
	})
}
