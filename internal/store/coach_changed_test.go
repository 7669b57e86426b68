package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store/storetest"
)

// rename gives a coach another name.
func (p *fixture) rename(by actor.Actor, name string) {
	p.Helper()
	ok(p, p.coaches().UpdateProfile(bg, by.AccountID, func(v coach.Profile) (coach.Profile, error) { v.Name = name; return v, nil }))
}

// TestCoachRenamed: another name gives each open request a new version, and each approved party a record and a
// notification in the app. A party that has not approved has neither. The same name again changes nothing.
func TestCoachRenamed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c, other := p.coach(1), p.coach(9)
		asha, bela := p.add(c, "Asha Rao", number(2), number(3)), p.add(c, "Bela Rao", number(4), "")
		elsewhere := p.add(other, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, asha.ID, approval.Approve))
		for range 2 {
			p.rename(c, "Delhi Public School")
		}
		versions := func(player string) int {
			return p.count(`SELECT coalesce(sum(version), 0) FROM requests WHERE player_id = $1`, player)
		}
		if got := []int{versions(asha.ID), versions(bela.ID), versions(elsewhere.ID)}; !slices.Equal(got, []int{1 + 2, 2, 1}) {
			p.Errorf("sums of the versions of requests: %d, want 1 for the answered and 2 for the open one, 2, 1", got)
		}
		if got := p.tray(guardian.AccountID); got[len(got)-1] != "coach_renamed" || len(got) != 4 {
			p.Errorf("guardian who approved: %q", got)
		}
		for _, party := range []actor.Actor{p.as(actor.Student, number(3)), p.as(actor.Guardian, number(4))} {
			if got := p.tray(party.AccountID); len(got) != 1 {
				p.Errorf("party that has not approved: %q", got)
			}
		}
		if got := p.count(`SELECT count(*) FROM record_keys k JOIN consent_records r ON r.id = k.record_id
			WHERE k.player_id = $1 AND k.party = 'guardian' AND k.version = (SELECT version FROM players WHERE id = $1)`, asha.ID); got != 1 {
			p.Errorf("%d records with the newest version of the player, want 1", got)
		}
		if got := p.count(`SELECT count(*) FROM record_keys WHERE player_id = $1`, bela.ID); got != 1 {
			p.Errorf("%d records of a player without an approval, want that of the request", got)
		}
	})
}

// TestCoachRenamedWithManyPlayers: the change of a coach with many players is one transaction, in which each of those
// that have approved is told. With 1,000 players, of whom half have, it takes less than a second.
func TestCoachRenamedWithManyPlayers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		players := storetest.Rounds(100, 1000)
		for i := range players {
			a := p.add(c, fmt.Sprint("Child ", i), number(1000+i), "")
			if i%2 == 0 {
				ok(p, p.decide(p.as(actor.Guardian, number(1000+i)), a.ID, approval.Approve))
			}
		}
		began := time.Now()
		p.rename(c, "Delhi Public School")
		p.Logf("renamed in %s", time.Since(began))
		if got := p.count(`SELECT count(*) FROM notifications WHERE type = 'coach_renamed'`); got != players/2 {
			p.Errorf("%d notifications", got)
		}
		if got := p.count(`SELECT count(*) FROM requests WHERE version = 2`); got != players/2 {
			p.Errorf("%d requests with a new version", got)
		}
	})
}
