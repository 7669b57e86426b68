package approval_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
)

func TestDigestNextDue(t *testing.T) {
	rules := approval.DigestRules{After: 72 * time.Hour, Every: 24 * time.Hour}
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name    string
		counted int
		oldest  time.Time
		want    time.Time
	}{
		{"requests were counted", 2, now.Add(-100 * time.Hour), now.Add(24 * time.Hour)},
		{"a younger request is pending", 0, now.Add(-71 * time.Hour), now.Add(time.Hour + time.Microsecond)},
		{"none is pending", 0, time.Time{}, time.Time{}},
	} {
		if got := rules.NextDue(now, tt.counted, tt.oldest); !got.Equal(tt.want) {
			t.Errorf("%s: NextDue = %s, want %s", tt.name, got, tt.want)
		}
	}
}
