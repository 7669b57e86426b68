package operator

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// Introspections are the calls of one token to introspection in one minute. The audit log
// has one entry for them.
type Introspections struct {
	By actor.Operator
	// Minute is the start of the minute.
	Minute time.Time
	Count  int64
}

// introspectionCounts are introspections that are not in the audit log yet. Services
// introspect tokens at any rate, so the entries are written about once a second and not
// by each call. The zero value is ready to use.
type introspectionCounts struct {
	mu     sync.Mutex
	counts map[introspectionKey]int64
}

type introspectionKey struct {
	by     actor.Operator
	minute time.Time
}

func (c *introspectionCounts) add(all ...Introspections) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[introspectionKey]int64{}
	}
	for _, i := range all {
		c.counts[introspectionKey{i.By, i.Minute}] += i.Count
	}
}

// take removes and returns all counts. The order is by token and minute: replicas that
// write the same entries lock them in the same order.
func (c *introspectionCounts) take() []Introspections {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Introspections
	for key, count := range c.counts {
		all = append(all, Introspections{By: key.by, Minute: key.minute, Count: count})
	}
	c.counts = nil
	slices.SortFunc(all, func(a, b Introspections) int {
		return cmp.Or(strings.Compare(a.By.ID, b.By.ID), a.Minute.Compare(b.Minute))
	})
	return all
}

// CountIntrospection counts one introspection for the audit log.
func (s *Service) CountIntrospection(by actor.Operator) {
	s.introspections.add(Introspections{By: by, Minute: s.Now().UTC().Truncate(time.Minute), Count: 1})
}

// RecordIntrospections writes what CountIntrospection has counted to the audit log. Call it
// every second and before the process ends. After an error the next call writes the counts;
// they can then be too high if the database had committed them.
func (s *Service) RecordIntrospections(ctx context.Context) error {
	all := s.introspections.take()
	if len(all) == 0 {
		return nil
	}
	err := s.Store.RecordIntrospections(ctx, all)
	if err != nil {
		s.introspections.add(all...)
	}
	return err
}
