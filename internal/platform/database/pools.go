package database

import (
	"sync/atomic"
	"time"
)

// Pool says how busy the connections of this process are.
type Pool struct {
	// Limit is the most connections, and InUse those that a call has now.
	Limit, InUse int
	// Waits counts the calls that waited for a connection, and Waited is their time.
	Waits  uint64
	Waited time.Duration
}

// Pools returns the pools of this process: "shared" on PostgreSQL, "read" and "write" on SQLite.
func (db *DB) Pools() map[string]Pool {
	stats := db.reads.Stats()
	reads := Pool{stats.MaxOpenConnections, stats.InUse, uint64(stats.WaitCount), stats.WaitDuration}
	if db.writer == nil {
		return map[string]Pool{"shared": reads}
	}
	w := &db.writer.waits
	writes := Pool{Limit: 1, Waits: w.count.Load(), Waited: time.Duration(w.nanoseconds.Load())}
	if w.busy.Load() {
		writes.InUse = 1
	}
	return map[string]Pool{"read": reads, "write": writes}
}

// waits counts the transactions that waited for SQLite's writer.
type waits struct {
	count, nanoseconds atomic.Uint64
	busy               atomic.Bool
}

func (w *waits) add(d time.Duration) {
	w.count.Add(1)
	w.nanoseconds.Add(uint64(d))
}
