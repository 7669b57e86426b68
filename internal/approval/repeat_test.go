package approval_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"

	"github.com/touchline/touchline/internal/approval"
)

func TestRepeatedFrom(t *testing.T) {
	var sent []time.Time // newest first
	for i := range 6 {
		sent = append(sent, time.Unix(int64(100-i), 0))
	}
	for _, tt := range []struct {
		name          string
		sent          []time.Time
		afterDecision bool
		want          time.Time
	}{
		{"first request", nil, false, time.Time{}},
		{"after a cancelled one", sent[:2], false, sent[0]},
		{"after a rejection", sent[:4], true, time.Time{}},
		{"five requests", sent[:5], true, sent[4]},
		{"six requests", sent, true, sent[4]},
		{"six requests, cancelled", sent, false, sent[0]},
	} {
		if got := approval.RepeatedFrom(tt.sent, tt.afterDecision); !got.Equal(tt.want) {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestHoldRepeated checks that the messages of a new request wait, and that the messages of a request
// that is sent again, and messages that cannot leave, do not.
func TestHoldRepeated(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	opened := &approval.Request{RequestedAt: now, LastSentAt: now}
	resent := &approval.Request{RequestedAt: now.Add(-time.Hour), LastSentAt: now}
	send := func(r *approval.Request, kind, state string) approval.Message {
		return approval.Message{Request: r, Kind: kind, Destination: message.Destination{State: state}}
	}
	c := approval.Change{Send: []approval.Message{
		send(opened, approval.MessageRequest, message.QueuedState),
		send(opened, approval.MessageRequest, message.QueuedState),
		send(opened, approval.MessageRequest, message.FailedState),
		send(resent, approval.MessageRequest, message.QueuedState),
	}}
	if got := c.NewRequests(); len(got) != 1 || got[0] != opened {
		t.Fatalf("new requests: %v, want the opened one once", got)
	}
	c.HoldRepeated(opened, nil, time.Minute)
	if !c.Send[0].HeldUntil.IsZero() || !opened.LastSentAt.Equal(now) {
		t.Error("a first request is held")
	}
	c.HoldRepeated(opened, []time.Time{now.Add(-10 * time.Second)}, time.Minute)
	for i, want := range []time.Time{now.Add(50 * time.Second), now.Add(50 * time.Second), {}, {}} {
		if got := c.Send[i].HeldUntil; !got.Equal(want) {
			t.Errorf("message %d is held until %s, want %s", i, got, want)
		}
	}
	if want := now.Add(-10 * time.Second); !opened.LastSentAt.Equal(want) || len(c.NewRequests()) != 0 {
		t.Errorf("last sent at %s, want %s; new requests %v, want none", opened.LastSentAt, want, c.NewRequests())
	}
}
