package push

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/touchline/touchline/internal/message"
)

const (
	// attemptTimeout limits an attempt. Push services respond within a second.
	attemptTimeout = 5 * time.Second
	// slowAttempt is how long an attempt takes at least that makes a subscription wait.
	slowAttempt = 3 * time.Second
	// The wait after a slow attempt doubles from slowWaitMin to slowWaitMax.
	slowWaitMin = 5 * time.Minute
	slowWaitMax = 12 * time.Hour
	// maxSlow is how many subscriptions are remembered.
	maxSlow = 16384
)

// slowSubscriptions are the subscriptions whose push service took long, in this process. A batch
// of the outbox ends with its slowest message, and people choose the URLs of push services: one
// that never responds would delay the messages of everyone. It is safe for concurrent use.
type slowSubscriptions struct {
	mu   sync.Mutex
	byID *lru.Cache[string, slowness]
}

// slowness is for how long, and until when, a subscription waits.
type slowness struct {
	wait  time.Duration
	until time.Time
}

func newSlowSubscriptions() *slowSubscriptions {
	byID, err := lru.New[string, slowness](maxSlow)
	if err != nil {
		panic(err) // the size is positive
	}
	return &slowSubscriptions{byID: byID}
}

// check returns an error if a subscription waits after a slow attempt.
func (s *slowSubscriptions) check(id string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok := s.byID.Get(id); ok && now.Before(found.until) {
		return &message.SendError{Wait: found.until.Sub(now), Reason: "the push service was slow"}
	}
	return nil
}

// record records how long an attempt took that began at began. Of concurrent slow attempts one
// doubles the wait.
func (s *slowSubscriptions) record(id string, began, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(began) < slowAttempt {
		s.byID.Remove(id)
		return
	}
	last, _ := s.byID.Get(id)
	if began.Before(last.until) {
		return
	}
	wait := min(max(2*last.wait, slowWaitMin), slowWaitMax)
	s.byID.Add(id, slowness{wait, now.Add(wait)})
}
