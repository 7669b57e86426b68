package feed_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/feed"
)

func TestWebhookDisabledBy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC)
	long, short := now.Add(-feed.WebhookFailsAfter), now.Add(-feed.WebhookFailsAfter+time.Second)
	queued, failed := feed.WebhookResult{State: feed.MessageQueued}, feed.WebhookResult{State: feed.MessageFailed}
	gone := feed.WebhookResult{State: feed.MessageQueued, Gone: true}
	for name, tt := range map[string]struct {
		m     feed.WebhookMessage
		r     feed.WebhookResult
		since time.Time
		want  string
	}{
		"first failure":                  {feed.WebhookMessage{}, queued, now, ""},
		"retried, failing for long":      {feed.WebhookMessage{}, queued, long, ""},
		"failed for good, failing short": {feed.WebhookMessage{}, failed, short, ""},
		"failed for good, failing long":  {feed.WebhookMessage{}, failed, long, feed.DisabledFailing},
		"test message, failing long":     {feed.WebhookMessage{Test: true}, failed, long, ""},
		"gone":                           {feed.WebhookMessage{}, gone, now, feed.DisabledGone},
		"gone for a test message":        {feed.WebhookMessage{Test: true}, gone, now, feed.DisabledGone},
	} {
		if got := tt.m.DisabledBy(tt.r, tt.since, now); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	for off, want := range map[time.Duration]bool{time.Hour: false, feed.ChangesKept: false, feed.ChangesKept + time.Second: true} {
		if got := (feed.Webhook{DisabledAt: now.Add(-off)}).MissedChanges(now); got != want {
			t.Errorf("off for %s: missed changes %t, want %t", off, got, want)
		}
	}
}
