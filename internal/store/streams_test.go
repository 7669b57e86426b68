package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
)

// stream returns a stream of an account that a process opens now.
func (p *fixture) stream(accountID, process string) notice.OpenedStream {
	now := p.clock.Now()
	return notice.OpenedStream{ID: p.db.NewID(), AccountID: accountID, Process: process, OpenedAt: now, EndsAt: now.Add(15 * time.Minute)}
}

// open opens a stream a second later. It returns the stream and the id of the stream that it
// replaced.
func (p *fixture) open(accountID, process string) (o notice.OpenedStream, replaced string) {
	p.Helper()
	p.clock.advance(time.Second)
	o = p.stream(accountID, process)
	var err error
	o.Slot, replaced, err = notice.OpenStream(bg, p.db, o)
	ok(p, err)
	return o, replaced
}

// wantStreams checks which streams of an account are open.
func (p *fixture) wantStreams(accountID string, want []string) {
	p.Helper()
	var got []string
	rows, err := p.db.Query(bg, `SELECT id FROM streams WHERE account_id = $1`, accountID)
	ok(p, err)
	defer rows.Close()
	for rows.Next() {
		var id string
		ok(p, rows.Scan(&id))
		got = append(got, id)
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		p.Errorf("got streams %v open, want %v", got, want)
	}
}

// TestOpenStream checks that a stream beyond the limit of an account replaces a stream of a
// dead process, if there is one, and otherwise the oldest.
func TestOpenStream(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		ok(p, notice.RenewStreams(bg, p.db, "alive"))
		ok(p, notice.RenewStreams(bg, p.db, "dead"))
		var all []notice.OpenedStream
		for i := range notice.MaxAccountStreams {
			o, replaced := p.open("one", []string{"alive", "dead"}[i%2])
			if replaced != "" {
				p.Errorf("stream %d replaced %s", i, replaced)
			}
			all = append(all, o)
		}
		wantReplaced := func(want notice.OpenedStream, what string) {
			p.Helper()
			if _, replaced := p.open("one", "alive"); replaced != want.ID {
				p.Errorf("%s: replaced %q, want %q", what, replaced, want.ID)
			}
		}
		wantReplaced(all[0], "the oldest")
		ok(p, notice.CloseStream(bg, p.db, all[0])) // it no longer has the slot
		wantReplaced(all[1], "the second")
		ok(p, notice.CloseStream(bg, p.db, all[5]))
		wantReplaced(notice.OpenedStream{}, "a free slot")
		p.clock.advance(notice.StreamsExpire)
		ok(p, notice.RenewStreams(bg, p.db, "alive"))
		wantReplaced(all[3], "of the dead process")
		wantReplaced(all[7], "of the dead process, although others are older")
		ok(p, notice.RenewStreams(bg, p.db, "dead")) // it is alive again
		ok(p, notice.EndStreams(bg, p.db, "dead"))
		wantReplaced(all[9], "of the ended process")
		wantReplaced(all[2], "the oldest again")
		if _, replaced := p.open("two", "alive"); replaced != "" {
			p.Errorf("a stream of another account replaced %s", replaced)
		}
		p.clock.advance(16 * time.Minute)
		ok(p, p.db.SweepAt(bg, p.clock.Now()))
		if n := p.count(`SELECT count(*) FROM streams`); n != 0 {
			p.Errorf("the sweep leaves %d streams", n)
		}
	})
}

// TestOpenStreamsConcurrently opens streams of one account from two processes at the same time.
// It checks that no stream is replaced twice, that the others stay, and that exactly the limit
// is open.
func TestOpenStreamsConcurrently(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		const each = 15
		opened, replaced := map[string]bool{}, map[string]bool{}
		var mu sync.Mutex
		var wait sync.WaitGroup
		for process := range 2 {
			for range each {
				wait.Go(func() {
					o := p.stream("one", fmt.Sprint(process))
					var id string
					var err error
					o.Slot, id, err = notice.OpenStream(bg, p.db, o)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						p.Errorf("open: %v", err)
						return
					}
					opened[o.ID] = true
					if id != "" && replaced[id] {
						p.Errorf("stream %s was replaced twice", id)
					}
					replaced[id] = true
				})
			}
		}
		wait.Wait()
		var open []string
		for id := range opened {
			if !replaced[id] {
				open = append(open, id)
			}
		}
		p.wantStreams("one", open)
		if len(open) != notice.MaxAccountStreams {
			p.Errorf("%d streams are open, want %d", len(open), notice.MaxAccountStreams)
		}
	})
}

// TestNotificationSeq: a stream that resumes from a deleted notification begins after the newest one
// with a smaller id.
func TestNotificationSeq(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), number(3))
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		ok(p, p.decide(p.as(actor.Student, number(3)), a.ID, approval.Approve))
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Revoke))
		all, err := p.notices().List(bg, c, false, 0, 10)
		if err != nil || len(all) != 3 {
			p.Fatalf("got %d notifications, %v; want 3", len(all), err)
		}
		newest, middle, oldest := all[0], all[1], all[2]
		want := func(id string, seq int64) {
			p.Helper()
			if got, err := p.notices().SeqOf(bg, c, id); err != nil || got != seq {
				p.Errorf("got seq %d, %v; want %d", got, err, seq)
			}
		}
		want(middle.ID, middle.Seq)
		ok(p, run(p.db, `DELETE FROM notifications WHERE id = $1`, middle.ID))
		want(middle.ID, oldest.Seq)
		want(newest.ID, newest.Seq)
		ok(p, run(p.db, `DELETE FROM notifications WHERE id = $1`, oldest.ID))
		want(middle.ID, 0)
	})
}
