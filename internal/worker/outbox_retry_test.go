package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/worker"
)

// Waits double from 1 s to 5 min, with ±25 % jitter. The last attempt is
// at GivesUpAt.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		r := s.queue(message.Request)
		var attempts []time.Time
		_, stop := run(t, s, func(context.Context, message.Message) error {
			attempts = append(attempts, time.Now())
			return errors.New("no such host")
		})
		time.Sleep(26 * time.Hour)
		stop()
		if r.state != "failed" || r.reason != "gave_up" {
			t.Fatalf("state = %s, %s; want failed, gave_up", r.state, r.reason)
		}
		want := time.Second
		for i, due := range r.retries {
			wait := due.Sub(attempts[i])
			if due.Equal(r.GivesUpAt) {
				break // shortened
			}
			if wait < want*3/4 || wait > want*5/4 {
				t.Errorf("wait %d is %s, want about %s", i+1, wait, want)
			}
			want = min(2*want, 5*time.Minute)
		}
		if last := attempts[len(attempts)-1]; last.Before(r.GivesUpAt) || last.After(r.GivesUpAt.Add(2*time.Second)) {
			t.Errorf("last attempt at %s, want %s", last, r.GivesUpAt)
		}
		if len(attempts) < 24*12 {
			t.Errorf("%d attempts in a day, want at least %d", len(attempts), 24*12)
		}
	})
}

func TestBackoffHasJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		for range 100 {
			s.queue(message.Request)
		}
		q, stop := run(t, s, func(context.Context, message.Message) error { return errors.New("no") })
		q.Wake(lane(message.Request))
		time.Sleep(500 * time.Millisecond)
		stop()
		waits := map[time.Duration]bool{}
		for _, r := range s.rows {
			if len(r.retries) != 1 {
				t.Fatalf("%d attempts, want 1", len(r.retries))
			}
			waits[time.Until(r.retries[0]).Truncate(10*time.Millisecond)] = true
		}
		if len(waits) < 20 {
			t.Errorf("100 waits have %d distinct lengths, want at least 20", len(waits))
		}
	})
}

// A longer wait that the provider asks for is respected, a shorter one is not, and one beyond
// GivesUpAt is shortened to it.
func TestSendErrorWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		long, short, tooLong := s.queue(message.Request), s.queue(message.Request), s.queue(message.Request)
		waits := map[string]time.Duration{long.ID: time.Hour, short.ID: time.Millisecond, tooLong.ID: 1000 * time.Hour}
		start := time.Now()
		q, stop := run(t, s, func(_ context.Context, m message.Message) error {
			return &message.SendError{Wait: waits[m.ID], Reason: "busy"}
		})
		q.Wake(lane(message.Request))
		time.Sleep(time.Millisecond)
		stop()
		if got := long.retries[0].Sub(start); got != time.Hour {
			t.Errorf("wait = %s, want 1 h", got)
		}
		if got := short.retries[0].Sub(start); got < 750*time.Millisecond {
			t.Errorf("wait = %s, want at least 750 ms", got)
		}
		if got := tooLong.retries[0]; tooLong.state != "queued" || !got.Equal(tooLong.GivesUpAt) {
			t.Errorf("state = %s, due at %s; want a last attempt at %s", tooLong.state, got, tooLong.GivesUpAt)
		}
	})
}

// A failure that asks for the next provider is followed by the next attempt at once.
func TestNextProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		r := s.queue(message.OTP)
		start := time.Now()
		var attempts []int
		q, stop := run(t, s, func(_ context.Context, m message.Message) error {
			if attempts = append(attempts, m.Attempt); m.Attempt < 3 {
				return &message.SendError{Next: true, Wait: time.Hour, Reason: "away"}
			}
			return nil
		})
		q.Wake(lane(message.OTP))
		synctest.Wait()
		stop()
		if !slices.Equal(attempts, []int{1, 2, 3}) || r.state != "sent" || !time.Now().Equal(start) {
			t.Errorf("attempts %v, state %s after %s; want 1, 2, 3 and sent at once", attempts, r.state, time.Since(start))
		}
	})
}

func TestPermanentFailureIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		r := s.queue(message.Request)
		attempts := 0
		q, stop := run(t, s, func(context.Context, message.Message) error {
			attempts++
			return &message.SendError{Permanent: true, Reason: "422"}
		})
		q.Wake(lane(message.Request))
		time.Sleep(time.Hour)
		stop()
		if r.state != "failed" || r.reason != "refused" || attempts != 1 {
			t.Errorf("state = %s, %s after %d attempts; want failed, refused after 1", r.state, r.reason, attempts)
		}
	})
}

func TestOutboxSurvivesDatabaseOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{claimErr: errors.New("outage")}
		r := s.queue(message.OTP)
		run(t, s, func(context.Context, message.Message) error { return nil })
		time.Sleep(time.Minute)
		s.mu.Lock()
		s.claimErr = nil
		s.mu.Unlock()
		time.Sleep(2 * time.Second)
		if s.state(r) != "sent" {
			t.Errorf("state = %s, want sent", s.state(r))
		}
	})
}

// A panic delays only its own delivery, until the lease ends. It is logged with its
// stack.
func TestPanicDelaysOneDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		panics, other := s.queue(message.Request), s.queue(message.Request)
		attempts := 0
		var log strings.Builder
		q, stop := runWith(t, s, map[message.Channel]worker.Sender{message.SMS: fakeSender{send: func(_ context.Context, m message.Message) error {
			if m.ID != panics.ID {
				return nil
			}
			if attempts++; attempts == 1 {
				panic("oops")
			}
			return nil
		}}}, slog.NewTextHandler(&log, nil))
		q.Wake(lane(message.Request))
		time.Sleep(30 * time.Second)
		if s.state(other) != "sent" || s.state(panics) != "queued" {
			t.Errorf("after 30 s: %s and %s, want sent and queued", s.state(other), s.state(panics))
		}
		time.Sleep(time.Minute)
		stop()
		if s.state(panics) != "sent" || attempts != 2 {
			t.Errorf("after the lease: %s after %d attempts, want sent after 2", s.state(panics), attempts)
		}
		if !strings.Contains(log.String(), "oops") || !strings.Contains(log.String(), "outbox_retry_test.go") {
			t.Errorf("log = %q, want the panic and its stack", log.String())
		}
	})
}

// The links of a message are renewed right before each attempt, so that they are valid for their full
// time from when it leaves.
func TestLinksAreRenewedBeforeEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{gathers: true}
		rows := []*row{s.queue(message.Request), s.queue(message.Request)}
		attempts := 0
		q, stop := run(t, s, func(context.Context, message.Message) error {
			for _, r := range rows {
				if !r.renewed.Equal(time.Now()) {
					t.Errorf("attempt %d: the link of delivery %s was renewed at %s, want %s", attempts, r.ID, r.renewed, time.Now())
				}
			}
			if attempts++; attempts < 3 {
				return errors.New("no such host")
			}
			return nil
		})
		q.Wake(lane(message.Request))
		time.Sleep(time.Minute)
		stop()
		if attempts != 3 {
			t.Errorf("%d attempts, want 3", attempts)
		}
	})
}
