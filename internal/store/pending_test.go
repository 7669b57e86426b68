package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestPending: the list has each party that has not decided, in pages, with the reason why a
// request cannot reach it. Removed players are not in it.
func TestPending(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		name := map[string]string{}
		add := func(student approval.Student, guardian *approval.Person) *approval.Player {
			a, err := p.Add(bg, coach, student, guardian)
			ok(p, err)
			name[a.ID] = student.FullName
			return a
		}
		a := add(child("A", number(11)), mother(number(21)))
		b := add(child("B", ""), mother(number(22)))
		p.clock.advance(time.Hour)
		c := add(adult("C", number(13)), mother(number(23)))
		d := add(adult("D", number(14)), mother(number(24)))
		add(adult("E", ""), nil)
		ok(p, p.decide(p.as(actor.Guardian, number(21)), a.ID, approval.Approve))
		_, err := p.Cancel(bg, coach, c.Party(actor.Guardian).Request.ID)
		ok(p, err)
		_, err = p.Cancel(bg, coach, b.Party(actor.Guardian).Request.ID)
		ok(p, err)
		_, err = p.Dispute(bg, p.as(actor.Student, number(14)), d.Party(actor.Student).Request.ID, approval.Wording{})
		ok(p, err)
		ok(p, run(p.db, `UPDATE requests SET delivery_failed = TRUE WHERE id = $1`, d.Party(actor.Guardian).Request.ID))
		_, _, err = p.Remind(bg, coach, a.ID, actor.Student)
		ok(p, err)
		removed := add(child("F", ""), mother(number(25)))
		ok(p, p.Remove(bg, coach, removed.ID))
		// A minor until tomorrow.
		today := approval.DateOf(p.clock.Now())
		add(approval.Student{FullName: "G", DateOfBirth: approval.Date{Year: today.Year - 18, Month: today.Month, Day: today.Day + 1}, Number: number(16)}, mother(number(26)))

		want := []string{
			"A student  1", "B guardian request_cancelled 0", "B student no_contact_number 0",
			"C student  0", "D guardian delivery_failed 0", "D student disputed 0", "E student no_contact_number 0",
			"G guardian  0", "G student  0",
		}
		for _, limit := range []int{1, 2, 3, 50} {
			var got []string
			page := approval.Page{Limit: limit}
			for range 20 {
				some, err := p.Pending(bg, coach, page)
				ok(p, err)
				for _, i := range some {
					got = append(got, fmt.Sprintf("%s %s %s %d", name[i.PlayerID], i.Party, i.BlockedBy(), i.Reminders))
					page.After = approval.Keyset{At: i.PendingSince, ID: i.PlayerID, Party: i.Party, GuardianID: i.GuardianID}
					if i.StudentName != name[i.PlayerID] || i.Party == actor.Guardian && i.ApproverName != "Meera" || i.Party == actor.Student && i.ApproverName != i.StudentName {
						p.Errorf("item = %+v", i)
					}
				}
				if len(some) < limit {
					break
				}
			}
			if !slices.Equal(got, want) {
				p.Errorf("by %d:\n got %q\nwant %q", limit, got, want)
			}
		}

		// A party that becomes pending again moves to the end.
		p.clock.advance(8 * day)
		ok(p, p.decide(p.as(actor.Student, number(11)), a.ID, approval.Reject))
		_, _, err = p.send(coach, a.ID, actor.Student)
		ok(p, err)
		all, err := p.Pending(bg, coach, approval.Page{Limit: 50})
		ok(p, err)
		if last := all[len(all)-1]; last.PlayerID != a.ID || !last.PendingSince.Equal(p.clock.Now()) || last.Reminders != 0 {
			p.Errorf("last = %+v", last)
		}
		// Player G is an adult now: the guardian's consent is optional, but its request is still open.
		if n := len(all); n != 9 {
			p.Errorf("%d pending items, want 9", n)
		}
	})
}
