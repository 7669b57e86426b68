package server

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadinessSharesChecks: concurrent calls of /readyz cost one check of the database; a later
// call checks again.
func TestReadinessSharesChecks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int32
		proceed := make(chan error)
		r := &readiness{checkDatabase: func(context.Context) error {
			checks.Add(1)
			return <-proceed
		}}
		down := errors.New("the database is down")
		for _, want := range []error{down, nil} {
			results := make(chan error, 100)
			for range cap(results) {
				go func() { results <- r.check(t.Context()) }()
			}
			synctest.Wait()
			canceled, cancel := context.WithCancel(t.Context())
			cancel()
			if err := r.check(canceled); !errors.Is(err, context.Canceled) {
				t.Errorf("a call that was canceled: got %v", err)
			}
			proceed <- want
			for range cap(results) {
				if err := <-results; !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
			}
		}
		if n := checks.Load(); n != 2 {
			t.Errorf("got %d checks, want 2", n)
		}
	})
}

// TestReadinessOfOthers: the check goes on for the other callers if the first one goes away.
func TestReadinessOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &readiness{checkDatabase: func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
				return nil
			}
		}}
		first, leave := context.WithCancel(t.Context())
		go func() { _ = r.check(first) }()
		synctest.Wait()
		second := make(chan error)
		go func() { second <- r.check(t.Context()) }()
		synctest.Wait()
		leave()
		if err := <-second; err != nil {
			t.Errorf("the second caller: got %v", err)
		}
	})
}
