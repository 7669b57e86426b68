package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/touchline/touchline/internal/fault"
)

const (
	// convoyPatience is how long those who wait let a convoy be on its way. One that
	// is away for longer waits for a lock or a slow disk, and the others go without it.
	convoyPatience = 20 * time.Millisecond

	// limitLocks keeps who waits for the lock of a row from keeping its company
	// waiting: after 20 ms all of them go alone.
	limitLocks = `SELECT set_config('lock_timeout', '20ms', TRUE)`
)

// convoy has single statements to PostgreSQL travel together. Those that come
// while others are on their way share the next round trip and its commit, as the
// transactions of SQLite's writer do; who meets nobody goes at once and alone.
//
// It has no goroutine of its own: whoever leads hands the queue on when back.
type convoy struct {
	lend func(context.Context, func(*pgx.Conn) error) error // see DB.lend

	mu      sync.Mutex
	leader  *traveller // of the newest convoy on its way; nil: none is
	waiting []*traveller
}

// traveller is one statement.
type traveller struct {
	statement
	met  int64 // rows, where none is read
	err  error // what reading the row said
	turn chan turn
}

// turn ends the wait of a traveller.
type turn struct {
	lead []*traveller // to lead, the one that is told among them; nil: they are back
	err  error
	// alone says that nothing was kept through the fault of one, and that each
	// shall hear of its own.
	alone bool
}

var errNoLeader = fault.Down(errors.New("store: whoever led this convoy did not come back"))

// do runs t: with others, or by alone, which runs it by itself.
func (c *convoy) do(ctx context.Context, t *traveller, alone func() error) error {
	lead := []*traveller{t}
	c.mu.Lock()
	if c.leader == nil {
		c.leader = t
		c.mu.Unlock()
	} else {
		t.turn = make(chan turn, 1)
		c.waiting = append(c.waiting, t)
		c.mu.Unlock()
		told, err := c.wait(ctx, t)
		switch {
		case err != nil:
			return err
		case told.alone:
			return alone()
		case told.lead == nil:
			return cmp.Or(told.err, t.err)
		}
		lead = told.lead
	}
	if len(lead) == 1 {
		defer c.next(t)
		return alone()
	}
	if told := c.lead(ctx, t, lead); !told.alone {
		return cmp.Or(told.err, t.err)
	}
	return alone()
}

// lead travels with all, t among them, and tells the others how it went.
func (c *convoy) lead(ctx context.Context, t *traveller, all []*traveller) turn {
	told := turn{err: errNoLeader} // after a panic
	defer func() {
		c.next(t)
		for _, other := range all {
			if other != t {
				other.turn <- told
			}
		}
	}()
	told = c.travel(ctx, all)
	return told
}

// wait is for t's turn, or for the end of ctx while nobody has taken t along.
func (c *convoy) wait(ctx context.Context, t *traveller) (turn, error) {
	late := time.NewTimer(convoyPatience)
	defer late.Stop()
	select {
	case told := <-t.turn:
		return told, nil
	case <-late.C:
		if lead := c.overtake(t); lead != nil {
			return turn{lead: lead}, nil
		}
	case <-ctx.Done():
		c.mu.Lock()
		i := slices.Index(c.waiting, t)
		if i >= 0 {
			c.waiting = slices.Delete(c.waiting, i, i+1)
		}
		c.mu.Unlock()
		if i >= 0 {
			return turn{}, ctx.Err()
		}
	}
	return <-t.turn, nil // it has been taken along
}

// overtake makes t the leader of those who wait, itself among them; nil where t
// does not wait any more.
func (c *convoy) overtake(t *traveller) []*traveller {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiting, t)
	if i < 0 {
		return nil
	}
	c.waiting[0], c.waiting[i] = t, c.waiting[0]
	c.leader = t
	return c.depart()
}

// next has the first of those who wait lead the others, now that t is back. Where
// t was overtaken that is for others to do.
func (c *convoy) next(t *traveller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leader != t {
		return
	}
	if c.leader = nil; len(c.waiting) > 0 {
		c.leader = c.waiting[0]
		c.leader.turn <- turn{lead: c.depart()}
	}
}

// depart takes the first of those who wait, up to maxBatch.
func (c *convoy) depart() []*traveller {
	n := min(len(c.waiting), maxBatch)
	lead := slices.Clone(c.waiting[:n])
	c.waiting = slices.Delete(c.waiting, 0, n)
	return lead
}

// travel runs all in one round trip, which PostgreSQL makes one transaction: they
// are answered once it is committed, and undone if one of them fails. They go by
// their first argument, the key of a row, so that two convoys lock rows in one order.
func (c *convoy) travel(ctx context.Context, all []*traveller) turn {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *traveller) int { return cmp.Compare(a.key(), b.key()) })
	sent := false
	failed := c.lend(ctx, func(conn *pgx.Conn) error {
		sent = true
		var batch pgx.Batch
		batch.Queue(limitLocks)
		for _, t := range all {
			batch.Queue(t.query, t.args...)
		}
		answers := conn.SendBatch(ctx, &batch)
		_, err := answers.Exec()
		for i := 0; err == nil && i < len(all); i++ {
			t := all[i]
			t.met, t.err, err = t.take(answers)
		}
		return ended(answers, err)
	})
	_, refused := errors.AsType[*pgconn.PgError](failed)
	_, unsent := errors.AsType[pgx.ErrPreprocessingBatch](failed) // an argument that does not fit
	switch {
	case failed == nil:
		return turn{}
	case !sent, pgconn.SafeToRetry(failed), (refused || unsent) && !isLost(failed):
		return turn{alone: true}
	}
	return turn{err: failed} // perhaps they are kept
}

func (t *traveller) key() string {
	if len(t.args) == 0 {
		return ""
	}
	key, _ := t.args[0].(string)
	return key
}
