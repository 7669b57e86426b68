package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/worker"
)

// A wake sends at once. The poll finds deliveries without a wake within a second.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(fakeStore)
		var sentAt []time.Time
		q, stop := run(t, s, func(context.Context, message.Message) error {
			sentAt = append(sentAt, time.Now())
			return nil
		})
		time.Sleep(300 * time.Millisecond)
		woken := time.Now()
		s.queue(message.Request)
		q.Wake(lane(message.Request))
		q.Wake(lane(message.OTP))                                   // never blocks
		q.Wake(message.Lane{Channel: email, Kind: message.Request}) // no sender
		time.Sleep(5 * time.Second)
		queued := time.Now()
		s.queue(message.Request)
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
			s.queue(message.Request)
		}
		start := time.Now()
		q, _ := run(t, s, func(context.Context, message.Message) error { return nil })
		q.Wake(lane(message.Request))
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
			s.queue(message.OTP)
		}
		release := make(chan struct{})
		q, stop := run(t, s, func(_ context.Context, m message.Message) error {
			if m.ID == "0" {
				<-release
			}
			return nil
		})
		q.Wake(lane(message.OTP))
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
			s.queue(message.Request)
		}
		release := make(chan struct{})
		q, stop := runWith(t, s, map[message.Channel]worker.Sender{
			message.SMS: fakeSender{send: func(_ context.Context, m message.Message) error {
				if m.Kind == message.Request {
					<-release
				}
				return nil
			}},
			email: fakeSender{send: func(context.Context, message.Message) error { return nil }},
		}, slog.DiscardHandler)
		q.Wake(lane(message.Request))
		synctest.Wait()
		byEmail := message.Lane{Channel: email, Kind: message.Request}
		others := []*row{s.queue(message.OTP), s.queue(message.Reminder), s.queue(message.NotificationCopy), s.queueOn(byEmail)}
		s.mu.Lock()
		s.copies = map[string]message.Copy{others[2].ID: {Type: message.CoachLeft}}
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
		bySMS, byEmail := s.queue(message.Request), s.queueOn(message.Lane{Channel: email, Kind: message.Request})
		byEmail.To = "parent@example.com"
		_, stop := runWith(t, s, map[message.Channel]worker.Sender{
			message.SMS: fakeSender{send: func(context.Context, message.Message) error {
				return &message.SendError{Permanent: true, Reason: "422"}
			}},
			email: fakeSender{send: func(_ context.Context, m message.Message) error {
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
			s.queue(message.Request)
		}
		q, stop := run(t, s, func(ctx context.Context, _ message.Message) error {
			time.Sleep(5 * time.Second)
			return ctx.Err()
		})
		q.Wake(lane(message.Request))
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
