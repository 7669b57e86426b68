package operator_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
)

func TestWebhookDisabledBy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC)
	long, short := now.Add(-operator.WebhookFailsAfter), now.Add(-operator.WebhookFailsAfter+time.Second)
	queued, failed := operator.WebhookResult{State: operator.MessageQueued}, operator.WebhookResult{State: operator.MessageFailed}
	gone := operator.WebhookResult{State: operator.MessageQueued, Gone: true}
	for name, tt := range map[string]struct {
		m     operator.WebhookMessage
		r     operator.WebhookResult
		since time.Time
		want  string
	}{
		"first failure":                  {operator.WebhookMessage{}, queued, now, ""},
		"retried, failing for long":      {operator.WebhookMessage{}, queued, long, ""},
		"failed for good, failing short": {operator.WebhookMessage{}, failed, short, ""},
		"failed for good, failing long":  {operator.WebhookMessage{}, failed, long, operator.DisabledFailing},
		"test message, failing long":     {operator.WebhookMessage{Test: true}, failed, long, ""},
		"gone":                           {operator.WebhookMessage{}, gone, now, operator.DisabledGone},
		"gone for a test message":        {operator.WebhookMessage{Test: true}, gone, now, operator.DisabledGone},
	} {
		if got := tt.m.DisabledBy(tt.r, tt.since, now); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	for off, want := range map[time.Duration]bool{time.Hour: false, operator.ChangesKept: false, operator.ChangesKept + time.Second: true} {
		if got := (operator.Webhook{DisabledAt: now.Add(-off)}).MissedChanges(now); got != want {
			t.Errorf("off for %s: missed changes %t, want %t", off, got, want)
		}
	}
}
