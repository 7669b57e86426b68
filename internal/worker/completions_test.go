package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// countingStore counts the statements that store accepted messages. The first one fails.
type countingStore struct {
	*fakeStore
	mu    sync.Mutex
	sizes []int
}

func (s *countingStore) DeliverySent(ctx context.Context, accepted []message.Delivery) error {
	s.mu.Lock()
	s.sizes = append(s.sizes, len(accepted))
	first := len(s.sizes) == 1
	s.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	if first {
		return errors.New("the database is away")
	}
	return s.fakeStore.DeliverySent(ctx, accepted)
}

// Messages that are accepted while a statement runs share the next one, messages of other
// batches too. A failed statement concerns its own messages alone: they are sent again when
// their lease ends.
func TestCompletionsShareStatements(t *testing.T) {
	t.Run("one batch", func(t *testing.T) { testCompletionsShareStatements(t, message.Request) })
	t.Run("four batches", func(t *testing.T) { testCompletionsShareStatements(t, message.OTP) })
}

func testCompletionsShareStatements(t *testing.T, kind message.Kind) {
	synctest.Test(t, func(t *testing.T) {
		s := &countingStore{fakeStore: new(fakeStore)}
		for range 32 {
			s.queue(kind)
		}
		var attempts atomic.Int64
		q, stop := runOver(t, s, func(_ context.Context, m message.Message) error {
			if attempts.Add(1); m.ID != "0" {
				time.Sleep(5 * time.Millisecond)
			}
			return nil
		})
		q.Wake(lane(kind))
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		s.mu.Lock()
		sizes := slices.Clone(s.sizes)
		s.mu.Unlock()
		if !slices.Equal(sizes, []int{1, 31}) {
			t.Errorf("statements for %v messages, want 1 and 31", sizes)
		}
		time.Sleep(2 * time.Minute)
		stop()
		for _, r := range s.rows {
			if r.state != "sent" {
				t.Errorf("delivery %s is %s, want sent", r.ID, r.state)
			}
		}
		if n := attempts.Load(); n != 33 {
			t.Errorf("%d attempts, want 33: one message was not stored", n)
		}
	})
}
