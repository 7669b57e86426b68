package api

import (
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// uploadsEach is how many uploads of one coach a process takes at a time. Each
// holds up to 10 MiB of the disk for minutes, and anybody may register.
const uploadsEach = 16

// uploadSeats counts the uploads that are under way by account.
type uploadSeats struct {
	mu    sync.Mutex
	taken map[string]int
}

// take counts one more; leave must be called when it has ended.
func (u *uploadSeats) take(accountID string, now time.Time) (leave func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.taken[accountID] >= uploadsEach {
		const wait = 5 * time.Second
		return nil, fault.New(fault.TooMany, "rate_limited", "Too many files are on their way. Wait until one of them is here.").
			With("limit", "uploads_at_once").With("ends_at", now.Add(wait)).After(wait)
	}
	if u.taken == nil {
		u.taken = map[string]int{}
	}
	u.taken[accountID]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.taken[accountID]--; u.taken[accountID] == 0 {
			delete(u.taken, accountID)
		}
	}, nil
}
