package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/worker"
)

// run starts an outbox over s with SMS as its only channel.
func run(t *testing.T, s *fakeStore, send func(ctx context.Context, m message.Message) error) (q *message.QueueSignal, stop func()) {
	t.Helper()
	return runOver(t, s, send)
}

// runOver starts an outbox over s with SMS as its only channel.
func runOver(t *testing.T, s outboxStore, send func(ctx context.Context, m message.Message) error) (q *message.QueueSignal, stop func()) {
	t.Helper()
	return runWith(t, s, map[message.Channel]worker.Sender{message.SMS: fakeSender{send: send}}, slog.DiscardHandler)
}

// runWith starts an outbox over s. stop ends it and waits.
func runWith(t *testing.T, s outboxStore, senders map[message.Channel]worker.Sender, log slog.Handler) (q *message.QueueSignal, stop func()) {
	t.Helper()
	leases := 0
	var mu sync.Mutex
	q = message.NewQueueSignal(slices.Collect(maps.Keys(senders))...)
	o := worker.NewOutbox(worker.OutboxConfig{
		Store: s, Contents: s, Senders: senders, Signal: q, Now: time.Now, NewTicker: newTicker, Log: slog.New(log), PublicURL: "https://t.example", OTPAttempts: 5,
		Fallbacks: map[message.Channel]message.Fallback{message.Chat: {To: message.SMS, After: 30 * time.Second, Attempts: 2}},
		OpenCode:  func(string, []byte) (string, error) { return "123456", nil },
		LinkToken: func(id string) string { return "token-" + id },
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			leases++
			return fmt.Sprint("lease ", leases)
		},
	})
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
	return q, stop
}

// Gathered requests are one message: one attempt, one count, one result. Closed requests
// are not in it. A retry has the same id, also if the first request was closed meanwhile.
func TestGatheredRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{gathers: true, closed: map[string]bool{}}
		closed, first, second := s.queue(message.Request), s.queue(message.Request), s.queue(message.Request)
		s.closed[closed.RequestID] = true
		var sent []message.Message
		q, stop := run(t, s, func(_ context.Context, m message.Message) error {
			if sent = append(sent, m); len(sent) == 1 {
				return errors.New("no such host")
			}
			return nil
		})
		q.Wake(lane(message.Request))
		time.Sleep(500 * time.Millisecond)
		s.mu.Lock()
		s.closed[first.RequestID] = true
		s.mu.Unlock()
		time.Sleep(time.Minute)
		stop()
		if len(sent) != 2 || s.rejections != -1 {
			t.Fatalf("%d attempts and %d counts, want 2 and 1", len(sent), -s.rejections)
		}
		if m := sent[0]; m.ID != first.ID || len(m.More) != 1 || m.More[0].Link != "https://t.example/a/token-"+second.ID {
			t.Errorf("first attempt = %+v, want both open questions", m)
		}
		if m := sent[1]; m.ID != first.ID || len(m.More) != 0 || m.Link != "https://t.example/a/token-"+second.ID {
			t.Errorf("second attempt = %+v, want the same id with the open question", m)
		}
		if closed.state != "dropped" || first.state != "sent" || second.state != "sent" {
			t.Errorf("states = %s, %s, %s; want dropped, sent, sent", closed.state, first.state, second.state)
		}
	})
}

// Each delivery of a message that does not leave ends with its own reason: a request to an address
// that wants no mail has failed, also if another one of the message was closed.
func TestGatheredToAStoppedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{gathers: true, closed: map[string]bool{}, recipient: message.Recipient{AddressStopped: true}}
		open, closed := s.queue(message.Request), s.queue(message.Request)
		s.closed[closed.RequestID] = true
		_, stop := run(t, s, func(context.Context, message.Message) error {
			t.Error("a message was sent")
			return nil
		})
		time.Sleep(time.Minute)
		stop()
		if open.state != "failed" || open.reason != message.ReasonAddressStopped || closed.state != "dropped" || closed.reason != message.ReasonRequestClosed {
			t.Errorf("the open request is %s (%s), the closed one %s (%s)", open.state, open.reason, closed.state, closed.reason)
		}
	})
}

// A held delivery is sent after its admission. A dropped one uses up no limit.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{rejections: 2, closed: map[string]bool{}}
		r, dropped := s.queue(message.Request), s.queue(message.Request)
		s.closed[dropped.RequestID] = true
		var sent []string
		start := time.Now()
		_, stop := run(t, s, func(_ context.Context, m message.Message) error {
			sent = append(sent, m.ID+" "+time.Since(start).Truncate(time.Hour).String())
			return nil
		})
		time.Sleep(24 * time.Hour)
		stop()
		if !slices.Equal(sent, []string{r.ID + " 2h0m0s"}) || dropped.state != "dropped" || dropped.reason != "request_closed" {
			t.Errorf("sent %v, want %s after 2 h; the closed request is %s, %s", sent, r.ID, dropped.state, dropped.reason)
		}
	})
}

// A message in the recipient's quiet hours leaves when they end, and one of a coach whose
// messages the recipient stopped never does.
func TestRecipientPreferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{recipient: message.Recipient{Preferences: message.Preferences{TimeZone: "UTC", QuietHours: message.QuietHours{Start: 0, End: 6 * 60}}}}
		request, otp := s.queue(message.Request), s.queue(message.OTP) // the clock starts at midnight UTC
		var sent []string
		var mu sync.Mutex
		q, stop := run(t, s, func(_ context.Context, m message.Message) error {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, fmt.Sprint(m.Kind, " ", time.Now().UTC().Format("15:04")))
			return nil
		})
		time.Sleep(7 * time.Hour)
		s.mu.Lock()
		s.recipient.Stopped = true
		s.mu.Unlock()
		stopped := s.queue(message.Reminder)
		q.Wake(lane(message.Reminder))
		time.Sleep(time.Minute)
		stop()
		if want := []string{"otp 00:00", "request 06:00"}; !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
		if s.state(request) != "sent" || s.state(otp) != "sent" || s.state(stopped) != "dropped" || stopped.reason != message.ReasonStopped {
			t.Errorf("request %s, OTP %s, reminder of a stopped coach %s (%s)", s.state(request), s.state(otp), s.state(stopped), stopped.reason)
		}
	})
}

// A delivery to a suppressed address counts as sent and uses up no limit.
func TestSuppressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		r := s.queue(message.Request)
		_, stop := runWith(t, s, map[message.Channel]worker.Sender{message.SMS: fakeSender{
			send: func(context.Context, message.Message) error {
				t.Error("a message was sent to a suppressed address")
				return nil
			},
			suppressed: []string{r.To},
		}}, slog.DiscardHandler)
		time.Sleep(time.Minute)
		stop()
		if r.state != "sent" || r.reason != "suppressed" || s.rejections != 0 {
			t.Errorf("state = %s, %s after %d admissions; want sent, suppressed after 0", r.state, r.reason, -s.rejections)
		}
	})
}

// A copy is dropped if its notification is gone, or if the recipient can read it in
// the app and it is not about a coach who left. Dropped copies use up no limit.
func TestNotificationCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{copies: map[string]message.Copy{}}
		for _, c := range []message.Copy{
			{Type: message.CoachLeft, Text: "left", Readable: true},
			{Type: message.CoachLeft, Text: "left, no role"},
			{Type: message.PlayerRemoved, Text: "removed", Readable: true},
			{Type: message.PlayerRemoved, Text: "removed, no role"},
			{},
		} {
			r := s.queue(message.NotificationCopy)
			if c.Type != "" {
				s.copies[r.ID] = c
			}
		}
		sent := map[string]bool{}
		var mu sync.Mutex
		_, stop := run(t, s, func(_ context.Context, m message.Message) error {
			mu.Lock()
			defer mu.Unlock()
			if sent[m.Copy.Text] = true; m.Kind != message.NotificationCopy {
				t.Errorf("kind of %q = %s, want %s", m.Copy.Text, m.Kind, message.NotificationCopy)
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
				t.Errorf("copy %d is %s, %s; want dropped, not_wanted", i, r.state, r.reason)
			}
		}
		if s.rejections != -3 {
			t.Errorf("%d copies were counted against the limits, want 3", -s.rejections)
		}
	})
}
