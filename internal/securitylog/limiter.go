package securitylog

import (
	"sync"
	"time"
)

// eventsPerSecond bounds the refusals of one kind that are logged.
const eventsPerSecond = 20

// limiter counts events per kind and second. Kinds come from fixed lists, so it needs
// no bound. The zero value is ready to use.
type limiter struct {
	mu    sync.Mutex
	kinds map[string]*kindCount
}

type kindCount struct {
	second         int64
	count, omitted int
}

// allow reports whether one more event may be logged now, and how many of its kind
// were left out since the last one that was. It uses the real clock, because it bounds
// the output of this process.
func (l *limiter) allow(kind string) (omitted int, ok bool) {
	return l.allowAt(kind, time.Now().Unix())
}

func (l *limiter) allowAt(kind string, second int64) (omitted int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kinds == nil {
		l.kinds = map[string]*kindCount{}
	}
	k := l.kinds[kind]
	if k == nil {
		k = new(kindCount)
		l.kinds[kind] = k
	}
	if k.second != second {
		k.second, k.count = second, 0
	}
	if k.count >= eventsPerSecond {
		k.omitted++
		return 0, false
	}
	k.count++
	omitted, k.omitted = k.omitted, 0
	return omitted, true
}
