package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/worker"
)

// TestCallsRingByDay: a call with a question rings from 9 to 20 o'clock of its recipient. One that is queued later, or
// that waited for a limit until then, waits for the morning. One whose attempts fail all day ends in the evening.
func TestCallsRingByDay(t *testing.T) {
	morning, evening := time.Date(2000, 1, 1, 9, 0, 0, 0, time.UTC), time.Date(2000, 1, 1, 20, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		queuedAt   time.Time
		rejections int           // by the message limits, an hour each
		outage     time.Duration // of the provider
		admission  time.Duration // how long the database takes
		ringsAt    time.Time     // zero is never
		state      string
	}{
		"at night":                           {morning.Add(-9 * time.Hour), 0, 0, 0, morning, "sent"},
		"by day":                             {morning.Add(time.Hour), 0, 0, 0, morning.Add(time.Hour), "sent"},
		"in the last minute":                 {evening.Add(-time.Minute), 0, 0, 0, evening.Add(-time.Minute), "sent"},
		"in the evening":                     {evening, 0, 0, 0, morning.AddDate(0, 0, 1), "sent"},
		"held until the evening":             {evening.Add(-90 * time.Minute), 2, 0, 0, morning.AddDate(0, 0, 1), "sent"},
		"the provider is away for an hour":   {morning.Add(time.Hour), 0, time.Hour, 0, morning.Add(2 * time.Hour), "sent"},
		"the provider is away until night":   {evening.Add(-time.Hour), 0, 2 * time.Hour, 0, time.Time{}, "dropped"},
		"the database is slow at 20 o'clock": {evening.Add(-2 * time.Second), 0, 0, 10 * time.Second, morning.AddDate(0, 0, 1), "sent"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(tt.queuedAt))
				s := &fakeStore{recipient: message.Recipient{Preferences: message.Preferences{TimeZone: "UTC"}}, rejections: tt.rejections}
				call := s.queueOn(message.Lane{Channel: message.Voice, Kind: message.Reminder})
				var rang []time.Time
				_, stop := runWith(t, slowStore{s, tt.admission}, map[message.Channel]worker.Sender{message.Voice: fakeSender{send: func(context.Context, message.Message) error {
					if time.Since(tt.queuedAt) < tt.outage {
						return fmt.Errorf("away")
					}
					rang = append(rang, time.Now().UTC())
					return nil
				}}}, slog.DiscardHandler)
				time.Sleep(48 * time.Hour)
				stop()
				if state := s.state(call); state != tt.state || len(rang) > 1 || (len(rang) == 0) != tt.ringsAt.IsZero() {
					t.Fatalf("%s, rang at %s; want %s, at %s", state, rang, tt.state, tt.ringsAt)
				}
				if late := 10 * time.Minute; len(rang) == 1 && (rang[0].Before(tt.ringsAt) || rang[0].After(tt.ringsAt.Add(late)) || rang[0].Hour() < 9 || rang[0].Hour() >= 20) {
					t.Errorf("rang at %s, want at %s", rang[0], tt.ringsAt)
				}
			})
		})
	}
}

// slowStore takes time to admit messages.
type slowStore struct {
	*fakeStore
	admission time.Duration
}

func (s slowStore) AdmitMessages(ctx context.Context, messages []message.Outgoing) ([]message.Outgoing, error) {
	if len(messages) > 0 && !slices.ContainsFunc(messages, func(m message.Outgoing) bool { return m.Deliveries[0].Counted }) {
		time.Sleep(s.admission)
	}
	return s.fakeStore.AdmitMessages(ctx, messages)
}

// TestUnwantedCalls: a person who stopped the coach, chose no SMS or whose quiet hours are all day gets no call.
func TestUnwantedCalls(t *testing.T) {
	for name, to := range map[string]message.Recipient{
		"stopped":          {Stopped: true},
		"chose no channel": {Preferences: message.Preferences{Channels: map[message.Kind][]message.Channel{message.Reminder: {}}}},
		"chose mail":       {Preferences: message.Preferences{Channels: map[message.Kind][]message.Channel{message.Reminder: {message.Email}}}},
		"sleeps all day":   {Preferences: message.Preferences{QuietHours: message.QuietHours{Start: 8 * 60, End: 20 * 60}}},
		"coach suspended":  {CoachSuspended: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(12 * time.Hour)
				s := &fakeStore{recipient: to}
				call := s.queueOn(message.Lane{Channel: message.Voice, Kind: message.Reminder})
				_, stop := runWith(t, s, map[message.Channel]worker.Sender{message.Voice: fakeSender{send: func(context.Context, message.Message) error {
					t.Error("the phone rang")
					return nil
				}}}, slog.DiscardHandler)
				time.Sleep(time.Minute)
				stop()
				if state := s.state(call); state != "dropped" {
					t.Errorf("the call is %s, want dropped", state)
				}
			})
		})
	}
}
