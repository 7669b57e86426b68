package roster

import (
	"context"
	"slices"
	"sync"
)

// parsesAtOnce limits the files that a process parses at the same time: each takes a processor,
// and some MiB of memory.
const parsesAtOnce = 2

// line admits parsesAtOnce callers at a time, in the order in which they came. Those who only check a
// file, which is fast and has a client that waits, come before those who read its rows.
type line struct {
	mu     sync.Mutex
	inside int
	checks []chan struct{}
	reads  []chan struct{}
}

// enter waits for the caller's turn. The caller calls leave afterwards.
func (l *line) enter(ctx context.Context, queue *[]chan struct{}) error {
	l.mu.Lock()
	if l.inside < parsesAtOnce {
		l.inside++
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	*queue = append(*queue, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	at := slices.Index(*queue, turn)
	if at >= 0 {
		*queue = slices.Delete(*queue, at, at+1)
	}
	l.mu.Unlock()
	if at < 0 { // the turn came at the same time
		l.leave()
	}
	return ctx.Err()
}

// leave gives the turn to the next caller.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, queue := range []*[]chan struct{}{&l.checks, &l.reads} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = slices.Delete(*queue, 0, 1)
			return
		}
	}
	l.inside--
}
