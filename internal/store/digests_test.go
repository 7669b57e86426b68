package store_test

import (
	"slices"
	"testing"
	"time"
)

// digested has n look at once at the digests that are due and returns how many reminders
// the coach has then.
func (p *pitch) digested(n int, coachID string) int {
	p.Helper()
	for _, err := range rivals(n, func(int) error { _, err := p.db.SendDigests(bg, 100); return err }) {
		ok(p, err)
	}
	return p.count(`SELECT count(*) FROM notifications WHERE account_id = $1 AND type = 'pending_reminder'`, coachID)
}

// A request has been pending for more than three days one microsecond after
// them, and whoever looks then, one of them tells.
func TestDigestIsExact(t *testing.T) {
	onPitch(t, func(p *pitch) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		p.clock.advance(3 * day)
		if n := p.digested(8, coach.AccountID); n != 0 {
			p.Errorf("told %d times when it was three days", n)
		}
		p.clock.advance(time.Microsecond)
		if n := p.digested(8, coach.AccountID); n != 1 {
			p.Errorf("told %d times after three days, want once", n)
		}
		p.clock.advance(3*day - time.Microsecond)
		b := p.add(coach, "Bela Rao", number(3), "")
		if n := p.digested(8, coach.AccountID); n != 1 {
			p.Errorf("told %d times before another three days, want once", n)
		}
		p.clock.advance(time.Microsecond)
		if n := p.digested(8, coach.AccountID); n != 2 {
			p.Errorf("told %d times after another three days, want twice", n)
		}
		ok(p, p.Remove(bg, coach, a.ID))
		p.clock.advance(3 * day) // the second child's request is a microsecond older
		if n := p.digested(8, coach.AccountID); n != 3 {
			p.Errorf("told %d times, want of the second child too", n)
		}
		ok(p, p.Remove(bg, coach, b.ID))
		p.clock.advance(30 * day)
		if n := p.digested(8, coach.AccountID); n != 3 {
			p.Errorf("told %d times with nothing pending", n)
		}
	})
}

// A coach who was told is left alone for the whole time, also where requests
// become long pending sooner than that.
func TestDigestsAreSpaced(t *testing.T) {
	onPitch(t, func(p *pitch) {
		p.db.Settings.DigestAfter, p.db.Settings.DigestEvery = day, 7*day
		coach := p.coach(1)
		p.add(coach, "Asha Rao", number(2), "")
		p.clock.advance(day + time.Microsecond)
		if n := p.digested(1, coach.AccountID); n != 1 {
			p.Fatalf("told %d times, want once", n)
		}
		p.add(coach, "Bela Rao", number(3), "")
		p.clock.advance(7*day - time.Microsecond)
		if n := p.digested(1, coach.AccountID); n != 1 {
			p.Errorf("told %d times before a week was over, want once", n)
		}
		p.clock.advance(time.Microsecond)
		if n := p.digested(1, coach.AccountID); n != 2 {
			p.Errorf("told %d times after a week, want twice", n)
		}
	})
}

// A coach whose digest cannot be written keeps nobody else from theirs.
func TestOneDigestFails(t *testing.T) {
	onPitch(t, func(p *pitch) {
		broken, sound := p.coach(1), p.coach(2)
		p.add(broken, "Asha Rao", number(3), "")
		p.clock.advance(time.Second)
		p.add(sound, "Bela Rao", number(4), "")
		p.clock.advance(4 * day)
		ok(p, run(p.db, `UPDATE accounts SET tray_seq = 9223372036854775807 WHERE id = $1`, broken.AccountID))
		n, err := p.db.SendDigests(bg, 10)
		if n != 2 || err == nil {
			p.Errorf("looked at %d, err = %v; want 2 and what failed", n, err)
		}
		if got := p.tray(sound.AccountID); !slices.Equal(got, []string{"pending_reminder"}) {
			p.Errorf("the other coach's tray: %q", got)
		}
	})
}
