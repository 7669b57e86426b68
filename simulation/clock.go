package main

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// clock is the time of the simulation. A service can run ahead of it or behind it.
type clock struct {
	now time.Time
	ids atomic.Uint64
}

// moveTo never goes back: the steps of a day may take some seconds.
func (c *clock) moveTo(t time.Time) {
	if t.After(c.now) {
		c.now = t
	}
}

func (c *clock) advance(d time.Duration) { c.now = c.now.Add(d) }

// newID returns a UUID version 7 that follows from the clock and the number of earlier ones.
func (c *clock) newID(skew time.Duration) string {
	n := c.ids.Add(1)
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(c.now.Add(skew).UnixMilli())<<16|n&0xfff)
	binary.BigEndian.PutUint64(id[8:], rand.NewPCG(n, 7).Uint64())
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// neverTicks paces nothing: the run calls the worker.
func neverTicks(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }
