package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store/storetest"
)

func (p *fixture) feed() *feed.Service {
	return &feed.Service{DB: p.db, Now: p.clock.Now}
}

// read returns the changes after a cursor, as "player sequence type", and the next cursor.
func (p *fixture) read(after feed.Cursor, limit int) ([]string, feed.Cursor) {
	p.Helper()
	changes, next, err := p.feed().Read(bg, after, limit)
	ok(p, err)
	var rows []string
	for _, c := range changes {
		rows = append(rows, fmt.Sprint(c.PlayerID, " ", c.Sequence, " ", c.Type))
	}
	return rows, next
}

// TestChangesMissNothing: 16 writers change players while a reader follows the feed. On
// PostgreSQL one transaction stays open after it has added its change, until 100 changes that
// committed meanwhile are read. The held one is read after its commit.
func TestChangesMissNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		const writers, minReadWhileHeld = 16, 100
		p := newFixture(t, url)
		var players []*approval.Player
		var coaches []actor.Actor
		for i := range writers {
			coach := p.coach(100 + i)
			coaches = append(coaches, coach)
			players = append(players, p.add(coach, "Asha Rao", number(200+i), ""))
		}
		holder, unlock := p, func() {}
		postgres := strings.HasPrefix(url, "postgres")
		if postgres {
			holder = newFixture(t, url+"&lock_timeout=9s")
			unlock = lockAccount(t, url, coaches[0].AccountID)
		}
		var released, heldCommitted atomic.Bool
		release := func() {
			if !released.Swap(true) {
				unlock()
			}
		}
		defer time.AfterFunc(2*time.Minute, release).Stop() // if the reader waits for the held change
		held := make(chan struct{})                         // closed when the change of the first writer is held
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			errs := concurrently(writers, func(i int) error {
				w, guardian := p, p.as(actor.Guardian, number(200+i))
				if i == 0 {
					w = holder
				} else {
					<-held
				}
				err := w.decide(guardian, players[i].ID, approval.Approve)
				for i == 0 && fault.KindOf(err) == fault.Unavailable { // a write lasts 10 s at most
					err = w.decide(guardian, players[i].ID, approval.Approve)
				}
				if err != nil {
					return err
				}
				if i == 0 {
					heldCommitted.Store(true)
				}
				for round := 0; round < 5 || !heldCommitted.Load(); round++ {
					time.Sleep(50 * time.Millisecond) // about 20 decisions a second
					if err := w.decide(guardian, players[i].ID, approval.Revoke); err != nil {
						return err
					}
					if _, _, err := w.Send(bg, coaches[i], players[i].ID, actor.Guardian, approval.Patch{}, nil); err != nil {
						return err
					}
					if err := w.decide(guardian, players[i].ID, approval.Approve); err != nil {
						return err
					}
				}
				return nil
			})
			for i, err := range errs {
				if err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		}()
		defer func() { release(); <-stopped }()
		if postgres {
			waitForLocks(t, url, 1)
		}
		close(held)

		sequences := map[string]int64{}
		var cursor feed.Cursor
		readWhileHeld, ended := 0, false
		for {
			changes, next, err := p.feed().Read(bg, cursor, 7)
			ok(t, err)
			for _, c := range changes {
				if c.Sequence != sequences[c.PlayerID]+1 {
					t.Fatalf("player %s: sequence %d after %d", c.PlayerID, c.Sequence, sequences[c.PlayerID])
				}
				sequences[c.PlayerID]++
				if !released.Load() && c.PlayerID != players[0].ID && c.Sequence > 1 {
					readWhileHeld++
				}
			}
			cursor = next
			if readWhileHeld >= minReadWhileHeld {
				release()
			}
			if len(changes) > 0 {
				continue
			}
			if ended {
				break
			}
			select {
			case <-stopped:
				ended = true // read once more
			case <-time.After(10 * time.Millisecond):
			}
		}
		for i, player := range players {
			want := int64(p.count(`SELECT count(*) FROM changes WHERE player_id = $1`, player.ID))
			if got := sequences[player.ID]; got != want || want < 5 {
				t.Errorf("player %d: read %d of %d changes", i, got, want)
			}
		}
		if postgres && readWhileHeld < minReadWhileHeld {
			t.Errorf("read %d changes while a commit was held, want at least %d", readWhileHeld, minReadWhileHeld)
		}
	})
}

// lockAccount locks the row of an account, for which a transaction waits after it has
// added its change, until release.
func lockAccount(t *testing.T, url, id string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(bg, url)
	ok(t, err)
	t.Cleanup(func() { conn.Close(bg) })
	tx, err := conn.Begin(bg)
	ok(t, err)
	_, err = tx.Exec(bg, `SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE`, id)
	ok(t, err)
	return func() { _ = tx.Rollback(bg) }
}

// TestChangesExpire: changes are kept for 90 days. A reader that would miss one gets
// cursor_expired, and may start again.
func TestChangesExpire(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		_, empty := p.read(feed.Cursor{}, 10)
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		first, middle := p.read(empty, 1)
		if !slices.Equal(first, []string{a.ID + " 1 pending"}) {
			t.Errorf("got %q", first)
		}
		p.clock.advance(90 * day)
		if rows, next := p.read(middle, 10); len(rows) != 1 || next.Position != 2 {
			t.Errorf("after 90 days: got %q, %v", rows, next)
		}
		p.clock.advance(time.Second)
		_, _, err := p.feed().Read(bg, middle, 10)
		p.refused(err, "cursor_expired")

		p.clock.advance(day)
		b := p.add(coach, "Bela Rao", number(2), "")
		_, err = p.db.Sweep(bg, p.clock.Now())
		ok(p, err)
		unread := feed.Cursor{Position: 1, IssuedAt: p.clock.Now()}
		if _, _, err = p.feed().Read(bg, unread, 10); fault.CodeOf(err) != "cursor_expired" {
			t.Errorf("a change after the cursor was deleted: got %v", err)
		}
		restored := feed.Cursor{Position: 100, IssuedAt: p.clock.Now()}
		if _, _, err = p.feed().Read(bg, restored, 10); fault.CodeOf(err) != "cursor_expired" {
			t.Errorf("a cursor after the end: got %v", err)
		}
		want := []string{b.ID + " 1 pending", b.ID + " 2 pending"}
		for _, start := range []feed.Cursor{{}, {Position: 2, IssuedAt: p.clock.Now()}} {
			if rows, _ := p.read(start, 10); !slices.Equal(rows, want) {
				t.Errorf("from %v: got %q, want %q", start, rows, want)
			}
		}
	})
}

// TestRecordAdults: with REQUIRE_GUARDIAN_FOR_MINORS an 18th birthday changes the
// availability of a student who approved alone. It is in the feed once.
func TestRecordAdults(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a, b := p.add(coach, "Asha Rao", number(2), number(3)), p.add(coach, "Bela Rao", number(2), number(4))
		ok(p, p.decide(p.as(actor.Student, number(3)), a.ID, approval.Approve))
		ok(p, p.decide(p.as(actor.Student, number(4)), b.ID, approval.Approve))
		ok(p, p.decide(p.as(actor.Guardian, number(2)), b.ID, approval.Approve))
		// A guardian of the third child said no and is asked again.
		c := p.addDisagreeing(coach)
		_, _, err := p.Send(bg, coach, c.ID, actor.Guardian, approval.Patch{GuardianID: c.Guardians()[1].GuardianID}, nil)
		ok(p, err)
		born := a.Student.DateOfBirth
		before := born
		before.Day--
		ok(p, player.RecordAdults(bg, p.db, before, true))
		_, cursor := p.read(feed.Cursor{}, 50)
		for range 2 {
			ok(p, player.RecordAdults(bg, p.db, born, true))
		}
		rows, _ := p.read(cursor, 50)
		if slices.Sort(rows); !slices.Equal(rows, []string{a.ID + " 4 availability", c.ID + " 8 availability"}) {
			t.Errorf("got %q", rows)
		}
	})
}

// addDisagreeing adds a child whose first guardian and student said yes, and whose second guardian said no.
func (p *fixture) addDisagreeing(coach actor.Actor) *approval.Player {
	p.Helper()
	c, err := p.AddWith(bg, coach, child("Chetan Rao", number(5)), []approval.Person{
		{Name: "Ravi", Relationship: "father", Number: number(6)}, {Name: "Anita", Relationship: "mother", Number: number(7)},
	})
	ok(p, err)
	ok(p, p.decide(p.as(actor.Student, number(5)), c.ID, approval.Approve))
	ok(p, p.decide(p.as(actor.Guardian, number(6)), c.ID, approval.Approve))
	ok(p, p.decide(p.as(actor.Guardian, number(7)), c.ID, approval.Reject))
	return c
}

// TestChangesOfStandingNo: a guardian who said no comes back in the place of another one, whose consent stays pending. Only the services
// of the student change.
func TestChangesOfStandingNo(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		c := p.addDisagreeing(coach)
		ok(p, p.RemoveGuardian(bg, coach, c.ID, c.Guardians()[1].GuardianID, ""))
		_, other, err := p.AddGuardian(bg, coach, c.ID, approval.Person{Name: "Uma", Relationship: "aunt", Number: number(8)})
		ok(p, err)
		_, cursor := p.read(feed.Cursor{}, 50)
		_, err = p.Edit(bg, coach, c.ID, approval.Patch{GuardianID: other, Guardian: &approval.GuardianPatch{Number: ptr(number(7))}})
		ok(p, err)
		if rows, _ := p.read(cursor, 50); len(rows) != 1 || !strings.HasSuffix(rows[0], " availability") {
			t.Errorf("got %q", rows)
		}
	}, func(s *settings) { s.Rules.GuardianBelow = 18 })
}

// TestRecordAdultsOfHigherAge: after the age of the profile rose, birthdays are in the feed again.
func TestRecordAdultsOfHigherAge(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		a := p.add(p.coach(1), "Asha Rao", number(2), number(3))
		ok(p, p.decide(p.as(actor.Student, number(3)), a.ID, approval.Approve))
		born := a.Student.DateOfBirth
		before, younger := born, born
		before.Day--
		younger.Year += 2
		ok(p, player.RecordAdults(bg, p.db, younger, true))
		_, cursor := p.read(feed.Cursor{}, 50)
		for _, adult := range []approval.Date{before, born} {
			ok(p, player.RecordAdults(bg, p.db, adult, true))
		}
		if rows, _ := p.read(cursor, 50); !slices.Equal(rows, []string{a.ID + " 4 availability"}) {
			t.Errorf("got %q", rows)
		}
	})
}

// TestRecordAdultsWithoutRule: without the rule a birthday changes nothing.
func TestRecordAdultsWithoutRule(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		a := p.add(p.coach(1), "Asha Rao", number(2), number(3))
		ok(p, p.decide(p.as(actor.Student, number(3)), a.ID, approval.Approve))
		before := a.Student.DateOfBirth
		before.Day--
		_, cursor := p.read(feed.Cursor{}, 50)
		for _, born := range []approval.Date{before, a.Student.DateOfBirth} {
			ok(p, player.RecordAdults(bg, p.db, born, false))
		}
		if rows, _ := p.read(cursor, 50); len(rows) != 0 {
			t.Errorf("got %q", rows)
		}
	})
}

// TestChangesOfConcurrentReaders: readers that ask after a commit see its change, also if
// another reader gives it its position at that moment.
func TestChangesOfConcurrentReaders(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		coach := p.coach(1)
		_, cursor := p.read(feed.Cursor{}, 100)
		for i := range 20 {
			p.add(coach, "Asha "+string(rune('A'+i)), number(100+i), "")
			errs := concurrently(8, func(int) error {
				changes, _, err := p.feed().Read(bg, cursor, 100)
				if err == nil && len(changes) == 0 {
					err = errors.New("the change is missing")
				}
				return err
			})
			for _, err := range errs {
				ok(t, err)
			}
			_, cursor = p.read(cursor, 100)
		}
	})
}
