package store_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestStatusIsConsistent: the player and the history in a response come from one snapshot.
func TestStatusIsConsistent(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		coach := p.coach(1)
		status := func(id string, _ actor.Actor) (*approval.Player, []approval.Record, error) {
			return p.Status(bg, coach, id)
		}
		decide := func(id string, guardian actor.Actor) (*approval.Player, []approval.Record, error) {
			return p.Decide(bg, guardian, id, approval.Decision{Action: approval.Approve})
		}
		reads := map[string]func(id string, guardian actor.Actor) (*approval.Player, []approval.Record, error){"read": status}
		if strings.HasPrefix(url, "postgres") { // SQLite runs one writing transaction at a time
			reads["decision"], reads["repeated decision"] = decide, decide
		}
		n := 10
		for name, read := range reads {
			n += 2
			a := p.add(coach, "Asha "+name, number(n), number(n+1))
			guardian, student := p.as(actor.Guardian, number(n)), p.as(actor.Student, number(n+1))
			if name == "repeated decision" {
				ok(t, p.decide(guardian, a.ID, approval.Approve))
			}
			got, history, err := interrupt("FROM approval_history", func() { ok(t, p.decide(student, a.ID, approval.Approve)) },
				func() (*approval.Player, []approval.Record, error) { return read(a.ID, guardian) })
			ok(t, err)
			for _, party := range approval.Parties {
				recorded := slices.ContainsFunc(history, func(r approval.Record) bool { return r.Party == party })
				if state := got.Party(party).Consent.State; recorded != (state == approval.Approved) {
					t.Errorf("%s, %s: got state %s and history %+v, want both from one snapshot", name, party, state, history)
				}
			}
		}
	})
}

// interrupt calls read, and change before the first statement that contains part.
func interrupt(part string, change func(), read func() (*approval.Player, []approval.Record, error)) (*approval.Player, []approval.Record, error) {
	var done atomic.Bool
	stop := database.Observe(func(query string, _ []any) {
		if strings.Contains(query, part) && !done.Swap(true) {
			change()
		}
	})
	defer stop()
	return read()
}
