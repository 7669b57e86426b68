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
			i, err := s.CreateOnce(bg, by, id, playersFile(1, 1200))
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
		other, err := s.CreateOnce(bg, by, id, playersFile(1, 1201))
		ok(p, err)
		if other, err = s.Await(bg, by, other.ID, time.Minute); err != nil || other.ID == id || other.Counts[roster.Waiting] != 1201 {
			p.Errorf("another file: %+v, %v", other, err)
		}
	})
}

// TestImportThatIsNotRead: an import whose process has ended has failed, and a step adds nothing of it.
// An import that was deleted meanwhile, or is complete, gets no rows.
func TestImportThatIsNotRead(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, s := p.coach(1), p.imports()
		now := p.clock.Now()
		i := &roster.Import{
			ID: p.db.NewID(), CoachID: by.AccountID, FileRows: 3, FileSHA256: "x", ReadingUntil: now.Add(time.Minute),
			CreatedAt: now, EndsAt: now.Add(day),
		}
		row := func(number int) []roster.ImportRow {
			return []roster.ImportRow{{Row: roster.Row{Number: number, Entry: roster.Entry{StudentName: "A", BirthDate: "1990-01-01"}}, State: roster.Waiting}}
		}
		_, err := p.db.AddImport(bg, i, nil, 10)
		ok(p, err)
		ok(p, p.db.AddImportRows(bg, i, row(2), now.Add(time.Minute)))
		if got, err := s.Import(bg, by, i.ID); err != nil || got.State() != roster.Reading || got.Rows() != 3 || got.ReadRows() != 1 {
			p.Errorf("while it is read: %+v, %v", got, err)
		}
		p.clock.advance(time.Minute)
		for range 2 {
			if got, err := s.Step(bg, by, i.ID); err != nil || got.State() != roster.Failed || got.Counts[roster.Added] != 0 {
				p.Errorf("after a minute: %+v, %v", got, err)
			}
		}
		ok(p, p.db.AddImportRows(bg, i, row(3), time.Time{})) // the process was only slow
		if got, err := s.Import(bg, by, i.ID); err != nil || got.State() != roster.Ready {
			p.Errorf("after the last row: %+v, %v", got, err)
		}
		p.refused(p.db.AddImportRows(bg, i, row(4), time.Time{}), "not_found")
		i.CoachID = p.coach(2).AccountID
		p.refused(p.db.AddImportRows(bg, i, row(4), time.Time{}), "not_found")
	})
}
