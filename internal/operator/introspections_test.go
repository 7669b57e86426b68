package operator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
)

// fakeIntrospectionStore adds up counts, unless err is set.
type fakeIntrospectionStore struct {
	operator.Store
	counts map[string]int64
	writes int
	err    error
}

func (f *fakeIntrospectionStore) RecordIntrospections(_ context.Context, all []operator.Introspections) error {
	f.writes++
	if f.err != nil {
		return f.err
	}
	for _, i := range all {
		f.counts[i.By.Name+" "+i.Minute.Format("15:04:05")] += i.Count
	}
	return nil
}

// TestRecordIntrospections checks that calls are counted by token and minute, that a failed
// write loses no count, and that nothing is written without calls.
func TestRecordIntrospections(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 59, 0, time.UTC)
	f := &fakeIntrospectionStore{counts: map[string]int64{}}
	s := &operator.Service{Store: f, Now: func() time.Time { return now }}
	gateway, desk := actor.Operator{ID: "1", Name: "gateway"}, actor.Operator{ID: "2", Name: "desk"}
	record := func(want error) {
		t.Helper()
		if err := s.RecordIntrospections(t.Context()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	record(nil)
	if f.writes != 0 {
		t.Errorf("%d writes without calls", f.writes)
	}
	for range 3 {
		s.CountIntrospection(gateway)
	}
	s.CountIntrospection(desk)
	f.err = errors.New("outage")
	record(f.err)
	now = now.Add(time.Second)
	s.CountIntrospection(gateway)
	f.err = nil
	record(nil)
	record(nil)
	if diff := cmp.Diff(map[string]int64{"gateway 12:00:00": 3, "desk 12:00:00": 1, "gateway 12:01:00": 1}, f.counts); diff != "" {
		t.Error(diff)
	}
}
