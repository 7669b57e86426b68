package approval_test

import (
	"testing"
	"time"

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
