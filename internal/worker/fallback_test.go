package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/worker"
)

// A message of a channel with another one behind it leaves there if the first one refuses it,
// fails twice, does not report that it sent it, or is not chosen by the recipient.
func TestFallback(t *testing.T) {
	preferSMS := message.Preferences{Channels: map[message.Kind][]message.Channel{message.Request: {message.SMS}}}
	for name, tt := range map[string]struct {
		answer        error
		chosen        message.Preferences
		tried, sent   int
		least, atMost time.Duration
	}{
		"accepted, no status": {nil, message.Preferences{}, 1, 1, 30 * time.Second, 31 * time.Second},
		"refused":             {&message.SendError{Permanent: true, Reason: "no WhatsApp"}, message.Preferences{}, 1, 1, 0, 0},
		"away":                {errors.New("away"), message.Preferences{}, 2, 1, 500 * time.Millisecond, 3 * time.Second},
		"SMS is chosen":       {nil, preferSMS, 0, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &fakeStore{recipient: message.Recipient{Preferences: tt.chosen}}
				lane := message.Lane{Channel: message.Chat, Kind: message.Request}
				r := s.queueOn(lane)
				start, tried, sent, took := time.Now(), 0, 0, time.Duration(0)
				q, stop := runWith(t, s, map[message.Channel]worker.Sender{
					message.Chat: fakeSender{send: func(context.Context, message.Message) error {
						tried++
						return tt.answer
					}},
					message.SMS: fakeSender{send: func(_ context.Context, m message.Message) error {
						sent, took = sent+1, time.Since(start)
						if m.ID != r.ID || m.Attempt != 1 {
							t.Errorf("sent %+v, want the first attempt of the same message", m)
						}
						return nil
					}},
				}, slog.DiscardHandler)
				q.Wake(lane)
				time.Sleep(time.Minute)
				stop()
				if tried != tt.tried || sent != tt.sent || took < tt.least || took > tt.atMost || r.state != "sent" {
					t.Errorf("tried %d, sent %d after %s, %s; want %d and %d after %s", tried, sent, took, r.state, tt.tried, tt.sent, tt.least)
				}
			})
		})
	}
}
