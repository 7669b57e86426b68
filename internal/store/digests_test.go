package store_test

import (
	"slices"
	"testing"
	"time"
)

// sendDigests sends the due digests n times concurrently and returns how many the coach
// has then.
func (p *fixture) sendDigests(n int, coachID string) int {
	p.Helper()
	for _, err := range concurrently(n, func(int) error { _, err := p.SendDigests(bg, 100); return err }) {
		ok(p, err)
	}
	return p.count(`SELECT count(*) FROM notifications WHERE account_id = $1 AND type = 'pending_reminder'`, coachID)
}

// A digest is due one microsecond after three days, and one of several replicas sends
// it.
func TestDigestIsDueAfterThreeDays(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		p.clock.advance(3 * day)
		if n := p.sendDigests(8, coach.AccountID); n != 0 {
			p.Errorf("%d digests at three days, want 0", n)
		}
		p.clock.advance(time.Microsecond)
		if n := p.sendDigests(8, coach.AccountID); n != 1 {
			p.Errorf("%d digests after three days, want 1", n)
		}
		p.clock.advance(3*day - time.Microsecond)
		b := p.add(coach, "Bela Rao", number(3), "")
		if n := p.sendDigests(8, coach.AccountID); n != 1 {
			p.Errorf("%d digests before another three days, want 1", n)
		}
		p.clock.advance(time.Microsecond)
		if n := p.sendDigests(8, coach.AccountID); n != 2 {
			p.Errorf("%d digests after another three days, want 2", n)
		}
		ok(p, p.Remove(bg, coach, a.ID))
		p.clock.advance(3 * day) // the second request is one microsecond older
		if n := p.sendDigests(8, coach.AccountID); n != 3 {
			p.Errorf("%d digests, want 3: the second request is pending for long", n)
		}
		ok(p, p.Remove(bg, coach, b.ID))
		p.clock.advance(30 * day)
		if n := p.sendDigests(8, coach.AccountID); n != 3 {
			p.Errorf("%d digests with nothing pending, want 3", n)
		}
	})
}

// DigestEvery separates two digests, even if more requests are pending for long.
func TestDigestsAreSpaced(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		p.add(coach, "Asha Rao", number(2), "")
		p.clock.advance(day + time.Microsecond)
		if n := p.sendDigests(1, coach.AccountID); n != 1 {
			p.Fatalf("%d digests, want 1", n)
		}
		p.add(coach, "Bela Rao", number(3), "")
		p.clock.advance(7*day - time.Microsecond)
		if n := p.sendDigests(1, coach.AccountID); n != 1 {
			p.Errorf("%d digests within a week, want 1", n)
		}
		p.clock.advance(time.Microsecond)
		if n := p.sendDigests(1, coach.AccountID); n != 2 {
			p.Errorf("%d digests after a week, want 2", n)
		}
	}, func(s *settings) { s.Rules.Digest.After, s.Rules.Digest.Every = day, 7*day })
}

// An error for one coach does not stop the digests of the others.
func TestDigestsContinueAfterError(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		broken, other := p.coach(1), p.coach(2)
		p.add(broken, "Asha Rao", number(3), "")
		p.clock.advance(time.Second)
		p.add(other, "Bela Rao", number(4), "")
		p.clock.advance(4 * day)
		ok(p, run(p.db, `UPDATE accounts SET tray_seq = 9223372036854775807 WHERE id = $1`, broken.AccountID))
		n, err := p.SendDigests(bg, 10)
		if n != 2 || err == nil {
			p.Errorf("SendDigests = %d, %v; want 2 and an error", n, err)
		}
		if got := p.tray(other.AccountID); !slices.Equal(got, []string{"pending_reminder"}) {
			p.Errorf("notifications of the other coach = %q, want one pending_reminder", got)
		}
	})
}
