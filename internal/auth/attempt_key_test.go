package auth_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
)

func TestFoundChallenge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		counted auth.CountedAttempt
		want    bool
	}{
		{"live", auth.CountedAttempt{Challenge: &auth.Challenge{}}, true},
		{"exhausted", auth.CountedAttempt{ExhaustedSentAt: time.Unix(1, 0)}, true},
		{"none", auth.CountedAttempt{}, false},
	} {
		if got := tt.counted.FoundChallenge(); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
		}
	}
}
