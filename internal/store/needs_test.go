package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// TestNeeds: each party needs the coach for at most one reason, the most urgent one.
func TestNeeds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		t := p.TB
		by := p.coach(1)
		student := func(name string, n int) *approval.Player {
			player, err := p.Add(bg, by, adult(name, number(n)), nil)
			ok(t, err)
			p.clock.advance(time.Minute)
			return player
		}
		answer := func(player *approval.Player, n int, actions ...approval.Trigger) {
			for _, action := range actions {
				ok(t, p.decide(p.as(actor.Student, number(n)), player.ID, action))
				p.clock.advance(time.Minute)
			}
		}
		request := func(player *approval.Player) string { return player.Party(actor.Student).Request.ID }

		called := student("called, 4 days", 10)
		p.clock.advance(24 * time.Hour)
		followed := student("called, 3 days", 11)
		student("overdue, 3 days", 12)
		failed := student("overdue, but failed", 13)
		held := student("overdue, but held", 14)
		for _, player := range []*approval.Player{called, followed} {
			_, err := p.FollowUp(bg, by, request(player), "")
			ok(t, err)
		}
		p.clock.advance(73*time.Hour - 49*time.Hour)
		student("overdue, 2 days", 15)
		p.clock.advance(49 * time.Hour)
		no, back, disputed, waits := student("no", 16), student("back", 17), student("disputed", 18), student("held", 19)
		silent := student("silent", 20)
		student("new", 21)
		ok(t, run(p.db, `INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at) VALUES ($1, $2, 1)`, string(number(20)), by.AccountID))
		answer(no, 16, approval.Reject)
		answer(back, 17, approval.Approve, approval.Revoke)
		_, err := p.Dispute(bg, p.as(actor.Student, number(18)), request(disputed), approval.Wording{})
		ok(t, err)
		ok(t, run(p.db, `UPDATE requests SET delivery_failed = TRUE WHERE id = $1`, request(failed)))
		for _, player := range []*approval.Player{held, waits, called, silent} {
			ok(t, run(p.db, `UPDATE deliveries SET state = 'queued', reason = 'held', lease = NULL WHERE request_id = $1 AND channel = 'sms'`, request(player)))
		}

		list := func(kind coach.NeedKind, limit int) string {
			needs, err := p.coaches().Needs(bg, by.AccountID, coach.NeedQuery{Kind: kind, Limit: limit}, p.clock.Now())
			ok(t, err)
			var names []string
			for _, n := range needs.Items {
				names = append(names, fmt.Sprintf("%s: %s", n.Kind, n.StudentName))
				if n.Party != actor.Student || n.PlayerID == "" || n.RequestID == "" || n.Since.IsZero() {
					t.Errorf("the need has gaps: %+v", n)
				}
			}
			return strings.Join(names, "\n")
		}
		want := []string{
			"delivery_failed: overdue, but failed", "disputed: disputed", "revoked: back", "rejected: no",
			"overdue: overdue, 3 days", "overdue: overdue, but held", "overdue: overdue, 2 days", "stopped: silent", "held: called, 4 days", "held: held", "long_pending: called, 3 days",
		}
		if got := list("", 50); got != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
		if got := list("", 3); got != strings.Join(want[:3], "\n") {
			t.Errorf("the first 3 are\n%s", got)
		}
		needs, err := p.coaches().Needs(bg, by.AccountID, coach.NeedQuery{Limit: 1}, p.clock.Now())
		ok(t, err)
		for _, kind := range coach.NeedKinds {
			of := slices.DeleteFunc(slices.Clone(want), func(line string) bool { return !strings.HasPrefix(line, string(kind)+":") })
			if got := list(kind, 50); got != strings.Join(of, "\n") || needs.Counts[kind] != len(of) {
				t.Errorf("%s: got %d\n%s\nwant %d\n%s", kind, needs.Counts[kind], got, len(of), strings.Join(of, "\n"))
			}
		}
		if needs.Total() != len(want) {
			t.Errorf("the total is %d, want %d", needs.Total(), len(want))
		}
		overview, err := p.coaches().Overview(bg, by.AccountID, 3, p.clock.Now())
		ok(t, err)
		three, err := p.coaches().Needs(bg, by.AccountID, coach.NeedQuery{Limit: 3}, p.clock.Now())
		ok(t, err)
		board, err := p.coaches().Dashboard(bg, by.AccountID, p.clock.Now())
		ok(t, err)
		expected := &coach.Overview{Summary: board.Summary, Reached: board.FollowUp.Reached, FollowedUp: board.FollowUp.FollowedUp, Needs: three}
		if diff := cmp.Diff(expected, overview); diff != "" || overview.Reached == 0 || overview.Pending.Total == 0 {
			t.Errorf("the overview counts other than the dashboard (-dashboard, +overview): %s", diff)
		}
		other := p.coach(2)
		// A no stays until the coach has opened the player; another one is a need again.
		for _, player := range []*approval.Player{no, back} {
			ok(t, p.notices().MarkRefusalsRead(bg, other, player.ID))
		}
		if got := list(coach.NeedRejected, 50) + list(coach.NeedRevoked, 50); got != "rejected: norevoked: back" {
			t.Errorf("after another coach read of it: got %q", got)
		}
		ok(t, p.notices().MarkRefusalsRead(bg, by, no.ID))
		if got := list("", 50); got != strings.Join(slices.Delete(slices.Clone(want), 3, 4), "\n") {
			t.Errorf("after the coach read of a no: got\n%s", got)
		}
		ok(t, p.notices().MarkRefusalsRead(bg, by, back.ID))
		_, _, err = p.send(by, no.ID, actor.Student)
		ok(t, err)
		_, _, err = p.Decide(bg, p.as(actor.Student, number(16)), no.ID, approval.Decision{Action: approval.Reject, Reason: "Too far away."})
		ok(t, err)
		needs, err = p.coaches().Needs(bg, by.AccountID, coach.NeedQuery{Limit: 50}, p.clock.Now())
		ok(t, err)
		var refusals []coach.Need
		for _, n := range needs.Items {
			if n.Kind == coach.NeedRejected || n.Kind == coach.NeedRevoked {
				refusals = append(refusals, n)
			}
		}
		if len(refusals) != 1 || !refusals[0].HasReason || refusals[0].PlayerID != no.ID || needs.Counts[coach.NeedRejected] != 1 || needs.Counts[coach.NeedRevoked] != 0 {
			t.Errorf("after another no: got %+v and %v", refusals, needs.Counts)
		}
		if theirs, err := p.coaches().Needs(bg, other.AccountID, coach.NeedQuery{Limit: 5}, p.clock.Now()); err != nil || theirs.Total() != 0 || len(theirs.Items) != 0 {
			t.Errorf("another coach needs %+v: %v", theirs, err)
		}
	})
}

// TestWaiting checks that parties without a number, who were not asked, do not count as waiting for
// an answer.
func TestWaiting(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		t := p.TB
		by := p.coach(1)
		for i, number := range []phone.Number{"", number(10), "", number(11), number(12), ""} {
			_, err := p.Add(bg, by, adult(fmt.Sprint("student ", i), number), nil)
			ok(t, err)
			p.clock.advance([]time.Duration{0, 30 * time.Hour, 0, 49 * time.Hour, 0, 0}[i])
		}
		board, err := p.coaches().Dashboard(bg, by.AccountID, p.clock.Now())
		ok(t, err)
		if fresh, older, long := board.Pending.Waiting(); fresh != 1 || older != 1 || long != 1 || board.Pending.Total != 6 || board.Pending.NoNumber != 3 {
			t.Errorf("waiting %d, %d, %d of %+v", fresh, older, long, board.Pending)
		}
	})
}
