package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/worker"
)

// shelf is an outbox in memory that keeps to the leases as the store does.
type shelf struct {
	mu   sync.Mutex
	rows []*row
	err  error // of every claim
	held int   // how often AdmitHeld still says no
	// closed are the requests that are no longer open.
	closed map[string]bool
	// notices are what deliveries carry, by their id.
	notices map[string]notify.Notice
}

type row struct {
	notify.Delivery
	state, reason string
	due           time.Time
	dues          []time.Time // as DeliveryLater was told
}

func (s *shelf) queue(kind notify.Kind) *row {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &row{state: "queued", due: time.Now(), Delivery: notify.Delivery{
		ID: fmt.Sprint(len(s.rows)), Kind: kind, To: "+919812300001", GivesUpAt: time.Now().Add(24 * time.Hour),
	}}
	r.RequestID = "of " + r.ID
	s.rows = append(s.rows, r)
	return r
}

func (s *shelf) DeliveriesDue(_ context.Context, now time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.rows, func(r *row) bool { return r.state == "queued" && !r.due.After(now) }), nil
}

func (s *shelf) ClaimDeliveries(_ context.Context, kind notify.Kind, lease string, until time.Time, n int) ([]notify.Delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var claimed []notify.Delivery
	for _, r := range s.rows {
		if s.err == nil && len(claimed) < n && r.state == "queued" && r.Kind == kind && !r.due.After(time.Now()) {
			r.Lease, r.due = lease, until
			r.Attempts++
			claimed = append(claimed, r.Delivery)
		}
	}
	return claimed, s.err
}

func (s *shelf) LiveChallenge(_ context.Context, d notify.Delivery, _ int) (auth.Challenge, bool, error) {
	return auth.Challenge{ID: d.ChallengeID, EndsAt: d.GivesUpAt}, true, nil
}

func (s *shelf) AskedBy(_ context.Context, id string) (notify.Asked, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return notify.Asked{Party: "guardian", CoachName: "Meera", StudentName: "Asha"}, !s.closed[id], nil
}

func (s *shelf) Notice(_ context.Context, d notify.Delivery) (notify.Notice, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, found := s.notices[d.ID]
	return n, found, nil
}

func (s *shelf) AdmitHeld(_ context.Context, d notify.Delivery) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held--; s.held < 0 {
		return true, nil
	}
	r := s.find(d)
	r.due, r.Lease = time.Now().Add(time.Hour), ""
	return false, nil
}

// find returns the row of d if d still holds its lease.
func (s *shelf) find(d notify.Delivery) *row {
	for _, r := range s.rows {
		if r.ID == d.ID && r.Lease == d.Lease && r.state == "queued" {
			return r
		}
	}
	return new(row)
}

func (s *shelf) end(d notify.Delivery, state, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(d)
	r.state, r.reason = state, reason
	return nil
}

func (s *shelf) DeliverySent(_ context.Context, d notify.Delivery) error { return s.end(d, "sent", "") }

func (s *shelf) DeliveryDropped(_ context.Context, d notify.Delivery, reason string) error {
	return s.end(d, "dropped", reason)
}

func (s *shelf) DeliverySpared(context.Context, notify.Delivery) error { return nil }

func (s *shelf) DeliveryFailed(_ context.Context, d notify.Delivery, reason string) error {
	return s.end(d, "failed", reason)
}

func (s *shelf) DeliveryLater(_ context.Context, d notify.Delivery, due time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(d)
	r.due, r.reason = due, reason
	r.dues = append(r.dues, due)
	return nil
}

// state is how a row stands.
func (s *shelf) state(r *row) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.state
}

// kind is what the delivery with this id carries.
func (s *shelf) kind(id string) notify.Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[slices.IndexFunc(s.rows, func(r *row) bool { return r.ID == id })].Kind
}

// run starts an outbox over s inside a bubble. stop ends it and waits.
func run(t *testing.T, s *shelf, send func(ctx context.Context, m worker.Message) error) (o *worker.Outbox, stop func()) {
	t.Helper()
	leases := 0
	var mu sync.Mutex
	o = &worker.Outbox{
		Store: s, Send: send, Now: time.Now, Log: slog.New(slog.DiscardHandler), PublicURL: "https://t.example", OTPTries: 5,
		Code: func(string, []byte) (string, error) { return "123456", nil },
		Link: func(id string) string { return "token-" + id },
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			leases++
			return fmt.Sprint("lease ", leases)
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return o, stop
}

// Waits double from a second to five minutes, each within a quarter of that, and
// the last attempt is at the end of the time that there is.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		r := s.queue(notify.Request)
		var at []time.Time
		_, stop := run(t, s, func(context.Context, worker.Message) error {
			at = append(at, time.Now())
			return errors.New("no such host")
		})
		time.Sleep(26 * time.Hour)
		stop()
		if r.state != "failed" || r.reason != "gave_up" {
			t.Fatalf("%s, %s", r.state, r.reason)
		}
		want := time.Second
		for i, due := range r.dues {
			wait := due.Sub(at[i])
			if due.Equal(r.GivesUpAt) {
				break // cut short
			}
			if wait < want*3/4 || wait > want*5/4 {
				t.Errorf("wait %d is %s, want about %s", i+1, wait, want)
			}
			want = min(2*want, 5*time.Minute)
		}
		if last := at[len(at)-1]; last.Before(r.GivesUpAt) || last.After(r.GivesUpAt.Add(2*time.Second)) {
			t.Errorf("the last attempt was at %s, want at the end %s", last, r.GivesUpAt)
		}
		if len(at) < 24*12 {
			t.Errorf("%d attempts in a day", len(at))
		}
	})
}

// Of many messages that fail together not all come back together.
func TestBackoffSpreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		for range 100 {
			s.queue(notify.Request)
		}
		o, stop := run(t, s, func(context.Context, worker.Message) error { return errors.New("no") })
		o.Wake(notify.Request)
		time.Sleep(500 * time.Millisecond)
		stop()
		waits := map[time.Duration]bool{}
		for _, r := range s.rows {
			if len(r.dues) != 1 {
				t.Fatalf("%d attempts", len(r.dues))
			}
			waits[time.Until(r.dues[0]).Truncate(10*time.Millisecond)] = true
		}
		if len(waits) < 20 {
			t.Errorf("a hundred waits fall on %d moments", len(waits))
		}
	})
}

// A gateway's wish for a longer wait is heeded, one for a shorter is not.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		long, short, endless := s.queue(notify.Request), s.queue(notify.Request), s.queue(notify.Request)
		waits := map[string]time.Duration{long.ID: time.Hour, short.ID: time.Millisecond, endless.ID: 1000 * time.Hour}
		start := time.Now()
		o, stop := run(t, s, func(_ context.Context, m worker.Message) error {
			return &worker.Failure{Wait: waits[m.ID], Reason: "busy"}
		})
		o.Wake(notify.Request)
		time.Sleep(time.Millisecond)
		stop()
		if got := long.dues[0].Sub(start); got != time.Hour {
			t.Errorf("waits %s, want an hour", got)
		}
		if got := short.dues[0].Sub(start); got < 750*time.Millisecond {
			t.Errorf("waits %s, want our own pace", got)
		}
		if got := endless.dues[0]; endless.state != "queued" || !got.Equal(endless.GivesUpAt) {
			t.Errorf("%s until %s, want a last attempt at %s", endless.state, got, endless.GivesUpAt)
		}
	})
}

func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		r := s.queue(notify.Request)
		n := 0
		o, stop := run(t, s, func(context.Context, worker.Message) error {
			n++
			return &worker.Failure{Refused: true, Reason: "422"}
		})
		o.Wake(notify.Request)
		time.Sleep(time.Hour)
		stop()
		if r.state != "failed" || r.reason != "refused" || n != 1 {
			t.Errorf("%s, %s after %d attempts", r.state, r.reason, n)
		}
	})
}

// A wake is heeded at once, and the poll finds within a second what no wake told of.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		var at []time.Time
		o, stop := run(t, s, func(context.Context, worker.Message) error {
			at = append(at, time.Now())
			return nil
		})
		time.Sleep(300 * time.Millisecond)
		woken := time.Now()
		s.queue(notify.Request)
		o.Wake(notify.Request)
		o.Wake(notify.OTP) // never blocks
		time.Sleep(5 * time.Second)
		queued := time.Now()
		s.queue(notify.Request)
		time.Sleep(5 * time.Second)
		stop()
		if len(at) != 2 || !at[0].Equal(woken) || at[1].Sub(queued) > time.Second {
			t.Errorf("sent at %s; woken %s, queued %s", at, woken, queued)
		}
	})
}

// One batch after the other goes without waiting for the poll.
func TestManyGoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		for range 100 {
			s.queue(notify.Request)
		}
		start := time.Now()
		o, _ := run(t, s, func(context.Context, worker.Message) error { return nil })
		o.Wake(notify.Request)
		synctest.Wait()
		for _, r := range s.rows {
			if s.state(r) != "sent" {
				t.Fatalf("delivery %s is %s after %s", r.ID, r.state, time.Since(start))
			}
		}
	})
}

// Messages that hang keep neither codes, reminders nor notices waiting.
func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		for range 30 {
			s.queue(notify.Request)
		}
		release := make(chan struct{})
		o, stop := run(t, s, func(_ context.Context, m worker.Message) error {
			if s.kind(m.ID) == notify.Request {
				<-release
			}
			return nil
		})
		o.Wake(notify.Request)
		synctest.Wait()
		otp, reminder, notice := s.queue(notify.OTP), s.queue(notify.Reminder), s.queue(notify.Notices)
		s.mu.Lock()
		s.notices = map[string]notify.Notice{notice.ID: {Type: notify.CoachLeft}}
		s.mu.Unlock()
		for _, kind := range []notify.Kind{notify.OTP, notify.Reminder, notify.Notices} {
			o.Wake(kind)
		}
		synctest.Wait()
		if s.state(otp) != "sent" || s.state(reminder) != "sent" || s.state(notice) != "sent" {
			t.Errorf("the code is %s, the reminder %s, the notice %s", s.state(otp), s.state(reminder), s.state(notice))
		}
		close(release)
		stop()
	})
}

// A stop finishes what is claimed, with its context alive, and claims no more.
func TestStopFinishesItsBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		for range 20 {
			s.queue(notify.Request)
		}
		o, stop := run(t, s, func(ctx context.Context, _ worker.Message) error {
			time.Sleep(5 * time.Second)
			return ctx.Err()
		})
		o.Wake(notify.Request)
		time.Sleep(time.Second)
		start := time.Now()
		stop()
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("the stop took %s", took)
		}
		states := map[string]int{}
		for _, r := range s.rows {
			if states[r.state]++; r.state == "queued" && r.Lease != "" {
				t.Errorf("delivery %s is still claimed", r.ID)
			}
		}
		if states["sent"] != 8 || states["queued"] != 12 {
			t.Errorf("%v, want the one batch sent", states)
		}
	})
}

// What is held goes once it is admitted; what nobody wants any more is dropped
// and uses up no cap.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{held: 2, closed: map[string]bool{}}
		r, gone := s.queue(notify.Request), s.queue(notify.Request)
		r.Held, gone.Held = true, true
		s.closed[gone.RequestID] = true
		var sent []string
		start := time.Now()
		_, stop := run(t, s, func(_ context.Context, m worker.Message) error {
			sent = append(sent, m.ID+" "+time.Since(start).Truncate(time.Hour).String())
			return nil
		})
		time.Sleep(24 * time.Hour)
		stop()
		if !slices.Equal(sent, []string{r.ID + " 2h0m0s"}) || gone.state != "dropped" || gone.reason != "request_closed" {
			t.Errorf("sent %v; the other is %s, %s", sent, gone.state, gone.reason)
		}
	})
}

// A notice says what its notification says, once the caps have let it; it is
// dropped where there is none any more, or where its recipient can read it anyway
// and it says no more than that one player was removed.
func TestNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{notices: map[string]notify.Notice{}}
		for _, n := range []notify.Notice{
			{Type: notify.CoachLeft, Text: "left", Readable: true},
			{Type: notify.CoachLeft, Text: "left, no role"},
			{Type: notify.PlayerRemoved, Text: "removed", Readable: true},
			{Type: notify.PlayerRemoved, Text: "removed, no role"},
			{},
		} {
			r := s.queue(notify.Notices)
			if r.Held = true; n.Type != "" {
				s.notices[r.ID] = n
			}
		}
		sent := map[string]bool{}
		var mu sync.Mutex
		_, stop := run(t, s, func(_ context.Context, m worker.Message) error {
			mu.Lock()
			defer mu.Unlock()
			if sent[m.Text] = true; m.OTP {
				t.Errorf("%q is said to be a code", m.Text)
			}
			return nil
		})
		time.Sleep(time.Minute)
		stop()
		if want := map[string]bool{"left": true, "left, no role": true, "removed, no role": true}; !maps.Equal(sent, want) {
			t.Errorf("sent %v, want %v", sent, want)
		}
		for _, i := range []int{2, 4} {
			if r := s.rows[i]; r.state != "dropped" || r.reason != "not_wanted" {
				t.Errorf("notice %d is %s, %s", i, r.state, r.reason)
			}
		}
		if s.held != -3 {
			t.Errorf("%d were counted against the caps, want 3", -s.held)
		}
	})
}

// A database that is away ends nothing: the outbox goes on when it is back.
func TestStoreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{err: errors.New("away")}
		r := s.queue(notify.OTP)
		run(t, s, func(context.Context, worker.Message) error { return nil })
		time.Sleep(time.Minute)
		s.mu.Lock()
		s.err = nil
		s.mu.Unlock()
		time.Sleep(2 * time.Second)
		if s.state(r) != "sent" {
			t.Errorf("it is %s", s.state(r))
		}
	})
}

// A delivery that panics is left to its lease and keeps those beside it from
// nothing; it is logged with where it happened.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shelf)
		broken, sound := s.queue(notify.Request), s.queue(notify.Request)
		tries := 0
		o, stop := run(t, s, func(_ context.Context, m worker.Message) error {
			if m.ID != broken.ID {
				return nil
			}
			if tries++; tries == 1 {
				panic("oops")
			}
			return nil
		})
		var log strings.Builder
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Wake(notify.Request)
		time.Sleep(30 * time.Second)
		if s.state(sound) != "sent" || s.state(broken) != "queued" {
			t.Errorf("half a minute later: %s and %s", s.state(sound), s.state(broken))
		}
		time.Sleep(time.Minute)
		stop()
		if s.state(broken) != "sent" || tries != 2 {
			t.Errorf("after its lease: %s after %d tries", s.state(broken), tries)
		}
		if !strings.Contains(log.String(), "oops") || !strings.Contains(log.String(), "outbox_test.go") {
			t.Errorf("logged %q", log.String())
		}
	})
}
