package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestReplyAfterRevocation: a reply that begins while a revocation of the same party commits is
// refused. On PostgreSQL the revocation is held until the reply waits for it; on SQLite it
// commits first, because writes follow one another.
func TestReplyAfterRevocation(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		postgres := strings.HasPrefix(url, "postgres")
		p := newFixture(t, url)
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(t, p.decide(guardian, a.ID, approval.Approve))
		ok(t, second(p.messages(0).Reply(bg, guardian, a.ID, "We come.")))
		commit := func() { ok(t, p.decide(guardian, a.ID, approval.Revoke)) }
		if postgres {
			p = newFixture(t, url+"&lock_timeout=9s")
			commit = commitWhenWaited(t, url, 1, `UPDATE players SET version = version + 1; UPDATE parties SET state = 'revoked' WHERE role = 'guardian'`)
		} else {
			commit()
		}
		replied := make(chan error, 1)
		go func() { replied <- second(p.messages(0).Reply(bg, guardian, a.ID, "We do not come.")) }()
		if postgres {
			commit()
		}
		p.refused(<-replied, "approval_required")
		if n := p.count(`SELECT count(*) FROM team_replies`); n != 1 {
			t.Errorf("%d replies, want the one before the revocation", n)
		}
	})
}

// TestReplyOfFormerGuardian changes the guardian after a reply: the reply must not have the name of
// the new guardian.
func TestReplyOfFormerGuardian(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		ok(p, second(p.messages(0).Reply(bg, guardian, a.ID, "We come.")))
		names := func(want string) {
			p.Helper()
			for _, unread := range []bool{false, true} {
				list, err := p.messages(0).Replies(bg, c, unread, "", 5)
				if err != nil || len(list) != 1 || list[0].Name != want {
					p.Errorf("unread %t: got %+v, %v; want one reply of %q", unread, list, err, want)
				}
			}
		}
		names(mother(number(2)).Name)
		_, err := p.Edit(bg, c, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Name: ptr("Other Guardian"), Number: ptr(number(3))}})
		ok(p, err)
		names("")
	})
}

// TestConcurrentReplies sends the last reply of a day twice at once. On PostgreSQL both wait for a
// lock before one of them is saved.
func TestConcurrentReplies(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(t, p.decide(guardian, a.ID, approval.Approve))
		reply := func() error { return second(p.messages(0).Reply(bg, guardian, a.ID, "We come.")) }
		for range conversation.MaxRepliesPerDay - 1 {
			ok(t, reply())
		}
		commit := func() {}
		if p.postgres {
			p = newFixture(t, url+"&lock_timeout=9s")
			commit = commitWhenWaited(t, url, 2, `UPDATE accounts SET role = role`)
		}
		replied := make(chan error, 2)
		for range 2 {
			go func() { replied <- reply() }()
		}
		commit()
		refused := 0
		for range 2 {
			if err := <-replied; fault.CodeOf(err) == "message_limit" {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		if n := p.count(`SELECT count(*) FROM team_replies`); n != conversation.MaxRepliesPerDay || refused != 1 {
			t.Errorf("%d replies, %d refused; want %d and 1", n, refused, conversation.MaxRepliesPerDay)
		}
	})
}

// commitWhenWaited runs a statement in a transaction. commit commits it when n other transactions
// wait for a lock.
func commitWhenWaited(t testing.TB, url string, n int, statement string) (commit func()) {
	t.Helper()
	conn, err := pgx.Connect(bg, url)
	ok(t, err)
	t.Cleanup(func() { conn.Close(bg) })
	tx, err := conn.Begin(bg)
	ok(t, err)
	_, err = tx.Exec(bg, statement)
	ok(t, err)
	return func() {
		waitForLocks(t, url, n)
		ok(t, tx.Commit(bg))
	}
}

// waitForLocks returns when n transactions wait for a lock.
func waitForLocks(t testing.TB, url string, n int) {
	t.Helper()
	conn, err := pgx.Connect(bg, url) // a transaction reads pg_stat_activity once
	ok(t, err)
	defer conn.Close(bg)
	for waiting := 0; waiting < n; time.Sleep(5 * time.Millisecond) {
		ok(t, conn.QueryRow(bg, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting))
	}
}
