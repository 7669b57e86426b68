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

// email is a second channel, to show that nothing depends on SMS.
const email notify.Channel = "email"

// lane returns the SMS lane of a kind.
func lane(kind notify.Kind) notify.Lane { return notify.Lane{Channel: notify.SMS, Kind: kind} }

// fakeStore is an outbox in memory that respects leases as the store does.
type fakeStore struct {
	mu       sync.Mutex
	rows     []*row
	claimErr error
	// gathers: the claimed requests are one message.
	gathers bool
	// rejections is how often AdmitMessages still holds a message.
	rejections int
	// closed are the requests that are no longer open.
	closed map[string]bool
	// copies are the notifications of deliveries, by delivery id.
	copies map[string]notify.Copy
	// recipient gets every message that is no OTP.
	recipient notify.Recipient
}

type row struct {
	notify.Delivery
	state, reason string
	due           time.Time
	retries       []time.Time // the due times of RetryDelivery
}

func (s *fakeStore) queue(kind notify.Kind) *row { return s.queueOn(lane(kind)) }

func (s *fakeStore) queueOn(lane notify.Lane) *row {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &row{state: "queued", due: time.Now(), Delivery: notify.Delivery{
		ID: fmt.Sprint(len(s.rows)), Lane: lane, To: "+919812300001", GivesUpAt: time.Now().Add(24 * time.Hour),
	}}
	r.RequestID = "request of " + r.ID
	s.rows = append(s.rows, r)
	return r
}

func (s *fakeStore) LanesDue(_ context.Context, lanes []notify.Lane, now time.Time) ([]notify.Lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []notify.Lane
	for _, lane := range lanes {
		if slices.ContainsFunc(s.rows, func(r *row) bool { return r.Lane == lane && r.state == "queued" && !r.due.After(now) }) {
			due = append(due, lane)
		}
	}
	return due, nil
}

func (s *fakeStore) ClaimDeliveries(_ context.Context, lane notify.Lane, lease string, until time.Time, n int) ([]notify.Delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var claimed []notify.Delivery
	for _, r := range s.rows {
		if s.claimErr == nil && len(claimed) < n && r.state == "queued" && r.Lane == lane && !r.due.After(time.Now()) {
			r.Lease, r.due = lease, until
			r.Attempts++
			claimed = append(claimed, r.Delivery)
		}
	}
	return claimed, s.claimErr
}

func (s *fakeStore) LiveChallenge(_ context.Context, d notify.Delivery, _ int) (c auth.Challenge, holdsRole, live bool, err error) {
	return auth.Challenge{ID: d.ChallengeID, EndsAt: d.GivesUpAt}, true, true, nil
}

func (s *fakeStore) RequestDetails(_ context.Context, d notify.Delivery) (notify.RequestDetails, notify.Recipient, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return notify.RequestDetails{Party: "guardian", CoachName: "Meera", StudentName: "Asha"}, s.recipient, !s.closed[d.RequestID], nil
}

func (s *fakeStore) NotificationCopy(_ context.Context, d notify.Delivery) (notify.Copy, notify.Recipient, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, found := s.copies[d.ID]
	return c, s.recipient, found, nil
}

func (s *fakeStore) TeamMessage(context.Context, notify.Delivery) (notify.TeamMessage, notify.Recipient, string, error) {
	return notify.TeamMessage{CoachName: "Meera", Text: "Training is at 5."}, notify.Recipient{}, "", nil
}

func (s *fakeStore) AdmitMessages(_ context.Context, messages []notify.Outgoing) ([]notify.Outgoing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var admitted []notify.Outgoing
	for _, m := range messages {
		s.rejections--
		for _, d := range m.Deliveries {
			if r := s.claimed(d); s.rejections < 0 {
				r.Counted = true
			} else {
				r.due, r.Lease = time.Now().Add(time.Hour), ""
			}
		}
		if s.rejections < 0 {
			admitted = append(admitted, m)
		}
	}
	return admitted, nil
}

func (s *fakeStore) WakeHeld(context.Context) error { return nil }

// claimed returns the row of d if d still holds its lease.
func (s *fakeStore) claimed(d notify.Delivery) *row {
	for _, r := range s.rows {
		if r.ID == d.ID && r.Lease == d.Lease && r.state == "queued" {
			return r
		}
	}
	return new(row)
}

func (s *fakeStore) GatherRequests(_ context.Context, claimed []notify.Delivery, _ time.Time) ([][]notify.Delivery, error) {
	if s.gathers {
		return [][]notify.Delivery{claimed}, nil
	}
	var messages [][]notify.Delivery
	for _, d := range claimed {
		messages = append(messages, []notify.Delivery{d})
	}
	return messages, nil
}

func (s *fakeStore) complete(message []notify.Delivery, state, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.state, r.reason = state, reason
	}
	return nil
}

func (s *fakeStore) DeliverySent(_ context.Context, message []notify.Delivery) error {
	return s.complete(message, "sent", "")
}

func (s *fakeStore) DeliverySuppressed(_ context.Context, message []notify.Delivery) error {
	return s.complete(message, "sent", "suppressed")
}

func (s *fakeStore) DeliveryDropped(_ context.Context, message []notify.Delivery, reason string) error {
	return s.complete(message, "dropped", reason)
}

func (s *fakeStore) DeliveryFailed(_ context.Context, message []notify.Delivery, reason string, _ notify.Cause) error {
	return s.complete(message, "failed", reason)
}

func (s *fakeStore) AwaitStatus(_ context.Context, message []notify.Delivery, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.due, r.AwaitsStatus, r.Lease = until, true, ""
	}
	return nil
}

func (s *fakeStore) FallBack(_ context.Context, message []notify.Delivery, to notify.Channel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.Channel, r.due, r.AwaitsStatus, r.Attempts, r.Lease = to, time.Now(), false, 0, ""
	}
	return nil
}

func (s *fakeStore) PostponeDelivery(_ context.Context, message []notify.Delivery, until time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.due, r.reason, r.Lease = until, reason, ""
	}
	return nil
}

func (s *fakeStore) RetryDelivery(_ context.Context, message []notify.Delivery, due time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.due, r.reason = due, reason
		r.retries = append(r.retries, due)
	}
	return nil
}

func (s *fakeStore) state(r *row) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.state
}

// fakeSender is a Sender. Numbers in suppressed get no message.
type fakeSender struct {
	send       func(ctx context.Context, m notify.Message) error
	suppressed []string
}

func (s fakeSender) Send(ctx context.Context, m notify.Message) error { return s.send(ctx, m) }
func (s fakeSender) Segments(notify.Message) int                      { return 1 }
func (s fakeSender) Suppressed(to string) bool                        { return slices.Contains(s.suppressed, to) }

// run starts an outbox over s with SMS as its only channel.
func run(t *testing.T, s *fakeStore, send func(ctx context.Context, m notify.Message) error) (q *notify.QueueSignal, stop func()) {
	t.Helper()
	return runOver(t, s, send)
}

// runOver starts an outbox over s with SMS as its only channel.
func runOver(t *testing.T, s worker.Store, send func(ctx context.Context, m notify.Message) error) (q *notify.QueueSignal, stop func()) {
	t.Helper()
	return runWith(t, s, map[notify.Channel]worker.Sender{notify.SMS: fakeSender{send: send}}, slog.DiscardHandler)
}

// runWith starts an outbox over s. stop ends it and waits.
func runWith(t *testing.T, s worker.Store, senders map[notify.Channel]worker.Sender, log slog.Handler) (q *notify.QueueSignal, stop func()) {
	t.Helper()
	leases := 0
	var mu sync.Mutex
	q = notify.NewQueueSignal(slices.Collect(maps.Keys(senders))...)
	o := worker.NewOutbox(worker.OutboxConfig{
		Store: s, Senders: senders, Signal: q, Now: time.Now, NewTicker: newTicker, Log: slog.New(log), PublicURL: "https://t.example", OTPAttempts: 5,
		Fallbacks: map[notify.Channel]notify.Fallback{notify.WhatsApp: {To: notify.SMS, After: 30 * time.Second, Attempts: 2}},
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
		closed, first, second := s.queue(notify.Request), s.queue(notify.Request), s.queue(notify.Request)
		s.closed[closed.RequestID] = true
		var sent []notify.Message
		q, stop := run(t, s, func(_ context.Context, m notify.Message) error {
			if sent = append(sent, m); len(sent) == 1 {
				return errors.New("no such host")
			}
			return nil
		})
		q.Wake(lane(notify.Request))
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

// Waits double from 1 s to 5 min, each within a quarter of that. The last attempt is
// at GivesUpAt.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		r := s.queue(notify.Request)
		var attempts []time.Time
		_, stop := run(t, s, func(context.Context, notify.Message) error {
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
			s.queue(notify.Request)
		}
		q, stop := run(t, s, func(context.Context, notify.Message) error { return errors.New("no") })
		q.Wake(lane(notify.Request))
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

// A longer wait that the provider asks for is respected, a shorter one is not.
func TestSendErrorWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		long, short, tooLong := s.queue(notify.Request), s.queue(notify.Request), s.queue(notify.Request)
		waits := map[string]time.Duration{long.ID: time.Hour, short.ID: time.Millisecond, tooLong.ID: 1000 * time.Hour}
		start := time.Now()
		q, stop := run(t, s, func(_ context.Context, m notify.Message) error {
			return &notify.SendError{Wait: waits[m.ID], Reason: "busy"}
		})
		q.Wake(lane(notify.Request))
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
		r := s.queue(notify.OTP)
		start := time.Now()
		var attempts []int
		q, stop := run(t, s, func(_ context.Context, m notify.Message) error {
			if attempts = append(attempts, m.Attempt); m.Attempt < 3 {
				return &notify.SendError{Next: true, Wait: time.Hour, Reason: "away"}
			}
			return nil
		})
		q.Wake(lane(notify.OTP))
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
		r := s.queue(notify.Request)
		attempts := 0
		q, stop := run(t, s, func(context.Context, notify.Message) error {
			attempts++
			return &notify.SendError{Permanent: true, Reason: "422"}
		})
		q.Wake(lane(notify.Request))
		time.Sleep(time.Hour)
		stop()
		if r.state != "failed" || r.reason != "refused" || attempts != 1 {
			t.Errorf("state = %s, %s after %d attempts; want failed, refused after 1", r.state, r.reason, attempts)
		}
	})
}

// A wake sends at once. The poll finds deliveries without a wake within a second.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		var sentAt []time.Time
		q, stop := run(t, s, func(context.Context, notify.Message) error {
			sentAt = append(sentAt, time.Now())
			return nil
		})
		time.Sleep(300 * time.Millisecond)
		woken := time.Now()
		s.queue(notify.Request)
		q.Wake(lane(notify.Request))
		q.Wake(lane(notify.OTP))                                  // never blocks
		q.Wake(notify.Lane{Channel: email, Kind: notify.Request}) // no sender
		time.Sleep(5 * time.Second)
		queued := time.Now()
		s.queue(notify.Request)
		time.Sleep(5 * time.Second)
		stop()
		if len(sentAt) != 2 || !sentAt[0].Equal(woken) || sentAt[1].Sub(queued) > time.Second {
			t.Errorf("sent at %s; woken at %s, queued at %s", sentAt, woken, queued)
		}
	})
}

func TestBatchesFollowWithoutPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		for range 100 {
			s.queue(notify.Request)
		}
		start := time.Now()
		q, _ := run(t, s, func(context.Context, notify.Message) error { return nil })
		q.Wake(lane(notify.Request))
		synctest.Wait()
		for _, r := range s.rows {
			if s.state(r) != "sent" {
				t.Fatalf("delivery %s is %s after %s, want sent", r.ID, r.state, time.Since(start))
			}
		}
	})
}

// OTPs that hang in a batch do not delay the next batches.
func TestBatchesOfOTPsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		for range 20 {
			s.queue(notify.OTP)
		}
		release := make(chan struct{})
		q, stop := run(t, s, func(_ context.Context, m notify.Message) error {
			if m.ID == "0" {
				<-release
			}
			return nil
		})
		q.Wake(lane(notify.OTP))
		synctest.Wait()
		for _, r := range s.rows[1:] {
			if s.state(r) != "sent" {
				t.Fatalf("delivery %s is %s while the first one hangs, want sent", r.ID, r.state)
			}
		}
		close(release)
		stop()
	})
}

// Requests that hang delay no other kind and no other channel.
func TestLanesAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		for range 30 {
			s.queue(notify.Request)
		}
		release := make(chan struct{})
		q, stop := runWith(t, s, map[notify.Channel]worker.Sender{
			notify.SMS: fakeSender{send: func(_ context.Context, m notify.Message) error {
				if m.Kind == notify.Request {
					<-release
				}
				return nil
			}},
			email: fakeSender{send: func(context.Context, notify.Message) error { return nil }},
		}, slog.DiscardHandler)
		q.Wake(lane(notify.Request))
		synctest.Wait()
		byEmail := notify.Lane{Channel: email, Kind: notify.Request}
		others := []*row{s.queue(notify.OTP), s.queue(notify.Reminder), s.queue(notify.NotificationCopy), s.queueOn(byEmail)}
		s.mu.Lock()
		s.copies = map[string]notify.Copy{others[2].ID: {Type: notify.CoachLeft}}
		s.mu.Unlock()
		for _, r := range others {
			q.Wake(r.Lane)
		}
		synctest.Wait()
		for _, r := range others {
			if s.state(r) != "sent" {
				t.Errorf("%s by %s is %s, want sent", r.Kind, r.Channel, s.state(r))
			}
		}
		close(release)
		stop()
	})
}

// A failure on one channel does not affect the same request on another.
func TestChannelsFailIndependently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		bySMS, byEmail := s.queue(notify.Request), s.queueOn(notify.Lane{Channel: email, Kind: notify.Request})
		byEmail.To = "parent@example.com"
		_, stop := runWith(t, s, map[notify.Channel]worker.Sender{
			notify.SMS: fakeSender{send: func(context.Context, notify.Message) error {
				return &notify.SendError{Permanent: true, Reason: "422"}
			}},
			email: fakeSender{send: func(_ context.Context, m notify.Message) error {
				if m.To != "parent@example.com" || m.Link != "https://t.example/a/token-1" {
					t.Errorf("email message %+v", m)
				}
				return nil
			}},
		}, slog.DiscardHandler)
		time.Sleep(time.Minute)
		stop()
		if bySMS.state != "failed" || byEmail.state != "sent" {
			t.Errorf("SMS is %s, email is %s; want failed, sent", bySMS.state, byEmail.state)
		}
	})
}

// A shutdown finishes the claimed batch, with a live context, and claims no more.
func TestShutdownFinishesBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		for range 44 {
			s.queue(notify.Request)
		}
		q, stop := run(t, s, func(ctx context.Context, _ notify.Message) error {
			time.Sleep(5 * time.Second)
			return ctx.Err()
		})
		q.Wake(lane(notify.Request))
		time.Sleep(time.Second)
		start := time.Now()
		stop()
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("the shutdown took %s, want 4 s", took)
		}
		states := map[string]int{}
		for _, r := range s.rows {
			if states[r.state]++; r.state == "queued" && r.Lease != "" {
				t.Errorf("delivery %s is still claimed", r.ID)
			}
		}
		if states["sent"] != 32 || states["queued"] != 12 {
			t.Errorf("states = %v, want 32 sent, 12 queued", states)
		}
	})
}

// A held delivery is sent after its admission. A dropped one uses up no limit.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{rejections: 2, closed: map[string]bool{}}
		r, dropped := s.queue(notify.Request), s.queue(notify.Request)
		s.closed[dropped.RequestID] = true
		var sent []string
		start := time.Now()
		_, stop := run(t, s, func(_ context.Context, m notify.Message) error {
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

// A held delivery to a suppressed address counts as sent and uses up no limit.
// A message in the recipient's quiet hours leaves when they end, and one of a coach whose
// messages the recipient stopped never does.
func TestRecipientPreferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{recipient: notify.Recipient{Preferences: notify.Preferences{TimeZone: "UTC", QuietHours: notify.QuietHours{Start: 0, End: 6 * 60}}}}
		request, otp := s.queue(notify.Request), s.queue(notify.OTP) // the clock starts at midnight UTC
		var sent []string
		var mu sync.Mutex
		q, stop := run(t, s, func(_ context.Context, m notify.Message) error {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, fmt.Sprint(m.Kind, " ", time.Now().UTC().Format("15:04")))
			return nil
		})
		time.Sleep(7 * time.Hour)
		s.mu.Lock()
		s.recipient.Stopped = true
		s.mu.Unlock()
		stopped := s.queue(notify.Reminder)
		q.Wake(lane(notify.Reminder))
		time.Sleep(time.Minute)
		stop()
		if want := []string{"otp 00:00", "request 06:00"}; !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
		if s.state(request) != "sent" || s.state(otp) != "sent" || s.state(stopped) != "dropped" || stopped.reason != notify.ReasonStopped {
			t.Errorf("request %s, OTP %s, reminder of a stopped coach %s (%s)", s.state(request), s.state(otp), s.state(stopped), stopped.reason)
		}
	})
}

func TestSuppressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		r := s.queue(notify.Request)
		_, stop := runWith(t, s, map[notify.Channel]worker.Sender{notify.SMS: fakeSender{
			send: func(context.Context, notify.Message) error {
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
		s := &fakeStore{copies: map[string]notify.Copy{}}
		for _, c := range []notify.Copy{
			{Type: notify.CoachLeft, Text: "left", Readable: true},
			{Type: notify.CoachLeft, Text: "left, no role"},
			{Type: notify.PlayerRemoved, Text: "removed", Readable: true},
			{Type: notify.PlayerRemoved, Text: "removed, no role"},
			{},
		} {
			r := s.queue(notify.NotificationCopy)
			if c.Type != "" {
				s.copies[r.ID] = c
			}
		}
		sent := map[string]bool{}
		var mu sync.Mutex
		_, stop := run(t, s, func(_ context.Context, m notify.Message) error {
			mu.Lock()
			defer mu.Unlock()
			if sent[m.Copy.Text] = true; m.Kind != notify.NotificationCopy {
				t.Errorf("kind of %q = %s, want %s", m.Copy.Text, m.Kind, notify.NotificationCopy)
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

func TestOutboxSurvivesDatabaseOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{claimErr: errors.New("outage")}
		r := s.queue(notify.OTP)
		run(t, s, func(context.Context, notify.Message) error { return nil })
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
		panics, other := s.queue(notify.Request), s.queue(notify.Request)
		attempts := 0
		var log strings.Builder
		q, stop := runWith(t, s, map[notify.Channel]worker.Sender{notify.SMS: fakeSender{send: func(_ context.Context, m notify.Message) error {
			if m.ID != panics.ID {
				return nil
			}
			if attempts++; attempts == 1 {
				panic("oops")
			}
			return nil
		}}}, slog.NewTextHandler(&log, nil))
		q.Wake(lane(notify.Request))
		time.Sleep(30 * time.Second)
		if s.state(other) != "sent" || s.state(panics) != "queued" {
			t.Errorf("after 30 s: %s and %s, want sent and queued", s.state(other), s.state(panics))
		}
		time.Sleep(time.Minute)
		stop()
		if s.state(panics) != "sent" || attempts != 2 {
			t.Errorf("after the lease: %s after %d attempts, want sent after 2", s.state(panics), attempts)
		}
		if !strings.Contains(log.String(), "oops") || !strings.Contains(log.String(), "outbox_test.go") {
			t.Errorf("log = %q, want the panic and its stack", log.String())
		}
	})
}
