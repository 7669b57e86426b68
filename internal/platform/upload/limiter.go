package upload

import (
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// maxPerAccount and maxInAll limit the concurrent uploads of an account and of all accounts in
// this process. Each takes up to 10 MiB of disk for minutes, and anyone may register.
const maxPerAccount, maxInAll = 16, 128

// Limiter counts the uploads in progress by account, for pages and the API together. It is safe
// for concurrent use.
type Limiter struct {
	mu     sync.Mutex
	all    int
	counts map[string]int
}

// Acquire counts one more upload of the account, until release is called. It returns
// rate_limited if the account has too many uploads in progress, and overloaded if all accounts
// together have.
func (l *Limiter) Acquire(accountID string, now time.Time) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts[accountID] >= maxPerAccount {
		const wait = 5 * time.Second
		return nil, fault.New(fault.TooMany, "rate_limited", "Too many of your files are being uploaded. Wait until one of them has arrived.").
			With("limit", "uploads_at_once").With("ends_at", now.Add(wait)).After(wait)
	}
	if l.all >= maxInAll {
		return nil, fault.Overloaded("Too many files are being uploaded. Send yours again in a few seconds.")
	}
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.all++
	l.counts[accountID]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.counts[accountID]--; l.counts[accountID] == 0 {
			delete(l.counts, accountID)
		}
	}, nil
}
