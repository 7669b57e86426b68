package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/player"
)

// statusChanges returns the changes of a player, as "sequence type party guardian/student".
func (p *fixture) statusChanges(playerID string) []string {
	p.Helper()
	rs, err := p.db.Query(bg, `SELECT sequence, type, coalesce(party, '-'), guardian_state, student_state FROM changes WHERE player_id = $1 ORDER BY sequence`, playerID)
	rows, err := database.Collect(rs, err, func(s database.Scanner) (string, error) {
		var sequence int
		var kind, party, guardian, student string
		err := s.Scan(&sequence, &kind, &party, &guardian, &student)
		return fmt.Sprint(sequence, " ", kind, " ", party, " ", guardian, "/", student), err
	})
	ok(p, err)
	return rows
}

// TestStatusChanges: each change of a status or of an availability is a row with the next
// sequence of the player. Other changes add none.
func TestStatusChanges(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		ok(p, p.decide(guardian, a.ID, approval.Approve)) // again
		edit := func(patch approval.Patch) {
			t.Helper()
			_, err := p.Edit(bg, coach, a.ID, patch)
			ok(p, err)
		}
		edit(approval.Patch{Student: approval.StudentPatch{Medical: ptr("asthma")}})
		edit(approval.Patch{Student: approval.StudentPatch{Number: ptr(number(3))}}) // now the student can get SMS
		student := p.as(actor.Student, number(3))
		ok(p, p.decide(student, a.ID, approval.Reject))
		ok(p, p.decide(guardian, a.ID, approval.Revoke))
		edit(approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha Rai")}})
		ok(p, p.Remove(bg, coach, a.ID))
		want := []string{
			"1 pending guardian pending/pending",
			"2 pending student pending/pending",
			"3 approved guardian approved/pending",
			"4 availability - approved/pending",
			"5 rejected student approved/rejected",
			"6 revoked guardian revoked/rejected",
			"7 pending guardian pending/pending",
			"8 pending student pending/pending",
			"9 removed - pending/pending",
		}
		if got := p.statusChanges(a.ID); !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}

		alone, err := p.Add(bg, coach, adult("Bela Rao", ""), nil)
		ok(p, err)
		statuses, err := player.ConsentStatuses(bg, p.db, []string{a.ID, alone.ID})
		if err != nil || len(statuses) != 1 || statuses[0].Sequence != 1 {
			t.Errorf("got %v, %v; want only the adult, with sequence 1", statuses, err)
		}
		if got := p.statusChanges(alone.ID); !slices.Equal(got, []string{"1 pending student pending/pending"}) {
			t.Errorf("adult without guardian: got %q", got)
		}
	})
}
