package store_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// session saves a session of by and returns by with it.
func (p *fixture) session(by actor.Actor) actor.Actor {
	p.Helper()
	by.SessionID = p.db.NewID()
	ends := database.Micros(p.clock.Now().Add(time.Hour))
	ok(p, run(p.db, `
		INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
		VALUES ($1, $2, $3, $4, '', 1, $5, 1, 1, $6, $6)`, by.SessionID, by.AccountID, string(by.Role), string(by.Number), []byte(by.SessionID), ends))
	return by
}

// TestStreamsShareReads: all streams of a process are read with one statement, which wakes only the streams
// whose state has changed. It is not parallel because database.Observe has one observer.
func TestStreamsShareReads(t *testing.T) {
	eachEngine(t, func(p *fixture) {
		const perCoach = 8
		hub := new(notice.Hub)
		streams := &notice.Streams{Hub: hub, DB: p.db, Process: p.db.NewID()}
		coaches := []actor.Actor{p.session(p.coach(1)), p.session(p.coach(2)), p.session(p.coach(3))}
		open := map[string][]*notice.Stream{}
		for range perCoach {
			for _, by := range coaches {
				st, err := streams.Open(bg, by, p.clock.Now().Add(time.Hour))
				ok(p, err)
				defer st.Close()
				if state := st.State(); !state.Live || state.Seq != 0 {
					p.Fatalf("got %+v, want a live stream without notifications", state)
				}
				open[by.AccountID] = append(open[by.AccountID], st)
			}
		}
		poll := make(chan time.Time)
		ctx, cancel := context.WithCancel(bg)
		var reader sync.WaitGroup
		reader.Go(func() { streams.Run(ctx, poll) })
		defer reader.Wait()
		defer cancel()
		var statements atomic.Int64
		stop := database.Observe(func(query string, args []any) {
			if strings.Contains(query, "FROM streams t") && args[0] == streams.Process {
				statements.Add(1)
			}
		})
		defer stop()
		pollAll := func() {
			for range 5 { // every fourth poll reads while announcements arrive; the last waits for the one before
				poll <- p.clock.Now()
			}
		}
		want := func(by actor.Actor, woken bool, want notice.StreamState) {
			p.Helper()
			for i, st := range open[by.AccountID] {
				select {
				case <-st.Woken():
					if !woken {
						p.Errorf("stream %d was woken without a change", i)
					}
				default:
					if woken {
						p.Errorf("stream %d was not woken", i)
					}
				}
				if got := st.State(); got != want {
					p.Errorf("stream %d: got %+v, want %+v", i, got, want)
				}
			}
		}
		live := notice.StreamState{Live: true}

		pollAll()
		if n := statements.Load(); n < 1 || n > 5 {
			p.Errorf("%d statements for 5 polls of 24 streams", n)
		}
		ok(p, run(p.db, `UPDATE accounts SET tray_seq = 7 WHERE id = $1`, coaches[0].AccountID))
		ok(p, run(p.db, `UPDATE sessions SET revoked_at = 1 WHERE id = $1`, coaches[1].SessionID))
		pollAll()
		want(coaches[0], true, notice.StreamState{Live: true, Seq: 7})
		want(coaches[1], true, notice.StreamState{})
		want(coaches[2], false, live)

		statements.Store(0)
		ok(p, run(p.db, `UPDATE accounts SET tray_seq = 8 WHERE id = $1 OR id = $2`, coaches[0].AccountID, coaches[2].AccountID))
		hub.Wake(coaches[2].AccountID)
		<-open[coaches[2].AccountID][0].Woken()
		open[coaches[2].AccountID] = open[coaches[2].AccountID][1:]
		poll <- p.clock.Now() // the reader takes it after it has woken all
		want(coaches[2], true, notice.StreamState{Live: true, Seq: 8})
		if n := statements.Load(); n > 3 { // at most a poll before, the wake and the poll after it
			p.Errorf("%d statements for a wake of 8 streams", n)
		}
	})
}
