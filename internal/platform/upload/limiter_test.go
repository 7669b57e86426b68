package upload_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/upload"
)

// TestLimiter: an account has 16 uploads at once, all accounts 128.
func TestLimiter(t *testing.T) {
	t.Parallel()
	l, now := new(upload.Limiter), time.Unix(0, 0)
	var releases []func()
	for account := range 20 {
		for {
			release, err := l.Acquire(fmt.Sprint(account), now)
			if err != nil {
				want := "rate_limited"
				if len(releases) == 128 && account >= 8 {
					want = "overloaded"
				}
				if fault.CodeOf(err) != want {
					t.Errorf("account %d after %d uploads: %v, want %s", account, len(releases), err, want)
				}
				break
			}
			releases = append(releases, release)
		}
	}
	if len(releases) != 128 {
		t.Errorf("%d uploads at once, want 128", len(releases))
	}
	for _, release := range releases {
		release()
	}
	if _, err := l.Acquire("0", now); err != nil {
		t.Errorf("after all ended: %v", err)
	}
}
