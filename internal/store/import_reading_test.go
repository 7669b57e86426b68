package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/roster"
)

// TestImportOfLongFile: all rows of a long file are there when it was read, once, although its form
// is sent twice; another file makes another import.
func TestImportOfLongFile(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, s, id := p.coach(1), p.imports(), p.db.NewID()
		for range 2 {
			i, err := s.CreateOnce(bg, by, id, playersFile(1, 1200), roster.Options{})
			ok(p, err)
			if i.ID != id || i.Rows() != 1200 {
				p.Errorf("import %s of %d rows, want %s of 1,200", i.ID, i.Rows(), id)
			}
		}
		i, err := s.Await(bg, by, id, time.Minute)
		ok(p, err)
		if i.State() != roster.Ready || i.Counts[roster.Waiting] != 1200 {
			p.Errorf("state %s, rows %v; want 1,200 that wait", i.State(), i.Counts)
		}
		if states := p.states(s, by, id); len(states) != 1200 {
			p.Errorf("%d rows, want 1,200", len(states))
		}
		other, err := s.CreateOnce(bg, by, id, playersFile(1, 1201), roster.Options{})
		ok(p, err)
		if other, err = s.Await(bg, by, other.ID, time.Minute); err != nil || other.ID == id || other.Counts[roster.Waiting] != 1201 {
			p.Errorf("another file: %+v, %v", other, err)
		}
	})
}
