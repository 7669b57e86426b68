package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/roster"
)

// imports returns an import service that adds players through the fixture's service.
func (p *fixture) imports() *roster.Service {
	return &roster.Service{
		DB: p.db, Approvals: p.Service, Batches: &batch.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyTier},
		Phones: phone.Parser{DefaultRegion: "IN"}, CheckFeature: func(context.Context, actor.Actor, string) error { return nil }, Log: slog.New(slog.DiscardHandler),
	}
}

const importTitles = "Student name,Date of birth,Guardian name,Relationship,Guardian number\n"

// playersFile returns a file of n children from the number first on.
func playersFile(first, n int) roster.File { return roster.NewFile([]byte(playersText(first, n))) }

// playersText returns the text of playersFile.
func playersText(first, n int) string {
	var b strings.Builder
	b.WriteString(importTitles)
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, "Child %d,2014-05-06,Meera,mother,%s\n", i, number(1000+i))
	}
	return b.String()
}

// states returns the states of all rows.
func (p *fixture) states(s *roster.Service, by actor.Actor, id string) (states []roster.RowState) {
	p.Helper()
	rows, err := s.Rows(bg, by, id, roster.RowFilter{Limit: 20000})
	ok(p, err)
	for _, row := range rows {
		states = append(states, row.State)
	}
	return states
}

// TestImportStepsAtOnce: of steps that run at the same time, one adds each row.
func TestImportStepsAtOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, s := p.coach(1), p.imports()
		i, err := s.Create(bg, by, playersFile(1, 30), roster.Options{})
		ok(p, err)
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				_, err := s.Step(bg, by, i.ID)
				ok(p, err)
			})
		}
		wait.Wait()
		i, err = s.Import(bg, by, i.ID)
		ok(p, err)
		if i.State() != roster.Done || i.Counts[roster.Added] != 30 {
			p.Errorf("state %s, counts %v; want 30 added", i.State(), i.Counts)
		}
		if n := p.count(`SELECT count(*) FROM players`); n != 30 {
			p.Errorf("got %d players, want 30", n)
		}
		if n := p.count(`SELECT players FROM coaches WHERE id = $1`, by.AccountID); n != 30 {
			p.Errorf("counted %d players, want 30", n)
		}
		if n := p.count(`SELECT count(*) FROM requests`); n != 30 {
			p.Errorf("got %d requests, want 30", n)
		}
		if n := p.count(`SELECT count(*) FROM import_rows r JOIN players p ON p.id = r.player_id AND p.student_name = 'Child ' || (r.number - 1)`); n != 30 {
			p.Errorf("%d rows name their player, want 30", n)
		}
		// A late step adds nothing for a row that is done, although the coach has no such player.
		late := roster.WithRow(bg, roster.RowID{CoachID: by.AccountID, ImportID: i.ID, Number: 2})
		_, err = p.Add(late, by, child("Late", ""), mother(number(7)))
		p.refused(err, "import_row_taken")
	})
}

// TestImportGoesOnAfterLimit: rows beyond a limit wait, but for rows of students whom the coach
// has, and a step after an upgrade adds them. Rows with faults and refused rows do not stop the others.
func TestImportGoesOnAfterLimit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, s := p.coach(1), p.imports()
		limit := int64(4)
		p.Rules.CheckRoster = func(r approval.Roster) error {
			if r.Players <= limit {
				return nil
			}
			return fault.New(fault.Forbidden, "tier_limit", "The tier Free allows 4 players.").With("needed_tier", "pro")
		}
		existing, late := p.add(by, "Child 2", number(1002), ""), p.add(by, "Child 6", number(1006), "")
		p.add(p.coach(2), "Child 5", number(1005), "")
		file := playersText(1, 6) + "No number,2014-05-06,Meera,mother,12\nOwn,2014-05-06,Meera,mother," + string(by.Number) + "\n"
		i, err := s.Create(bg, by, roster.NewFile([]byte(file)), roster.Options{})
		ok(p, err)
		if i.State() != roster.Ready {
			p.Errorf("state %s, want ready", i.State())
		}
		i, err = s.Step(bg, by, i.ID)
		ok(p, err)
		if diff := cmp.Diff(&roster.Stop{Code: "tier_limit", Detail: "The tier Free allows 4 players.", NeededTier: "pro"}, i.Stop); diff != "" || i.State() != roster.Stopped {
			p.Errorf("state %s, stop (-want +got):\n%s", i.State(), diff)
		}
		want := []roster.RowState{roster.Added, roster.Exists, roster.Added, roster.Waiting, roster.Waiting, roster.Exists, roster.Faulty, roster.Waiting}
		if diff := cmp.Diff(want, p.states(s, by, i.ID)); diff != "" {
			p.Errorf("rows (-want +got):\n%s", diff)
		}
		limit = 10
		i, err = s.Step(bg, by, i.ID)
		ok(p, err)
		if i.State() != roster.Done || i.Stop != nil {
			p.Errorf("state %s, stop %v; want done", i.State(), i.Stop)
		}
		for number, player := range map[int]string{3: existing.ID, 7: late.ID} {
			rows, err := s.Rows(bg, by, i.ID, roster.RowFilter{After: number - 1, Limit: 1})
			ok(p, err)
			if rows[0].PlayerID != player {
				p.Errorf("row %d names player %q, want the existing %s", number, rows[0].PlayerID, player)
			}
		}
		rows, err := s.Rows(bg, by, i.ID, roster.RowFilter{State: roster.Refused, Limit: 5})
		ok(p, err)
		if len(rows) != 1 || rows[0].Number != 9 || rows[0].Faults[0].Column != roster.GuardianNumber || rows[0].Faults[0].Code != "own_number" {
			p.Errorf("refused rows %+v, want row 9 for its number", rows)
		}
		again, err := s.Step(bg, by, i.ID)
		ok(p, err)
		if diff := cmp.Diff(i, again); diff != "" {
			p.Errorf("a step without waiting rows changes the import:\n%s", diff)
		}
	})
}

// TestImportStopsForVerification: rows beyond the limit of players before the verification wait, but
// for rows of students whom the coach has.
func TestImportStopsForVerification(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, s := p.coach(1), p.imports()
		p.add(by, "Child 2", number(1002), "")
		p.Rules.CheckRoster = func(r approval.Roster) error {
			if r.Players <= 1 {
				return nil
			}
			return fault.New(fault.Forbidden, "kyc_required", "Verify your identity first.")
		}
		i, err := s.Create(bg, by, playersFile(1, 3), roster.Options{})
		ok(p, err)
		i, err = s.Step(bg, by, i.ID)
		ok(p, err)
		if i.State() != roster.Stopped || i.Stop == nil || i.Stop.Code != "kyc_required" {
			p.Errorf("state %s, stop %+v", i.State(), i.Stop)
		}
		if diff := cmp.Diff([]roster.RowState{roster.Waiting, roster.Exists, roster.Waiting}, p.states(s, by, i.ID)); diff != "" {
			p.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

// TestImportIsPrivate: an import of another coach is not_found.
func TestImportIsPrivate(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, other, s := p.coach(1), p.coach(2), p.imports()
		i, err := s.Create(bg, by, playersFile(1, 2), roster.Options{})
		ok(p, err)
		_, err = s.Import(bg, other, i.ID)
		p.refused(err, "not_found")
		_, err = s.Rows(bg, other, i.ID, roster.RowFilter{Limit: 5})
		p.refused(err, "not_found")
		_, err = s.Step(bg, other, i.ID)
		p.refused(err, "not_found")
		if list, err := s.Imports(bg, other); err != nil || len(list) > 0 {
			p.Errorf("Imports of another coach = %v, %v", list, err)
		}
	})
}

// TestImportsEnd: only the newest imports of a coach are kept, for 30 days, and none
// after the account is closed.
func TestImportsEnd(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, s := p.coach(1), p.imports()
		var newest *roster.Import
		for n := range 12 {
			var err error
			newest, err = s.Create(bg, by, playersFile(n, 2), roster.Options{})
			ok(p, err)
			p.clock.advance(time.Second)
		}
		list, err := s.Imports(bg, by)
		ok(p, err)
		if len(list) != 10 || list[0].ID != newest.ID || list[0].Counts[roster.Waiting] != 2 {
			p.Errorf("got %d imports, the first %+v", len(list), list[0])
		}
		if n := p.count(`SELECT count(*) FROM import_rows`); n != 20 {
			p.Errorf("got %d rows of imports, want 20", n)
		}
		p.clock.advance(31 * day)
		last, err := s.Create(bg, by, playersFile(1, 2), roster.Options{})
		ok(p, err)
		_, err = p.db.Sweep(bg, p.clock.Now())
		ok(p, err)
		if list, err := s.Imports(bg, by); err != nil || len(list) != 1 || list[0].ID != last.ID {
			p.Errorf("after 31 days: %v, %v", list, err)
		}
		if n := p.count(`SELECT count(*) FROM import_rows`); n != 2 {
			p.Errorf("after 31 days: %d rows of imports, want 2", n)
		}
		ok(p, run(p.db, `DELETE FROM coaches`)) // as a closure that was faster
		_, err = s.Create(bg, by, playersFile(1, 2), roster.Options{})
		p.refused(err, "session_revoked")
	})
}

// TestImportFromAnOldPage: an import whose id is older than the imports that are kept, because its
// form was opened before them, is there after it was made.
func TestImportFromAnOldPage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, s := p.coach(1), p.imports()
		old := p.db.NewID()
		for range 11 {
			ok(p, second(s.Create(bg, by, playersFile(1, 1), roster.Options{})))
		}
		for range 2 {
			ok(p, second(s.CreateOnce(bg, by, old, playersFile(1, 2), roster.Options{})))
			i, err := s.Import(bg, by, old)
			ok(p, err)
			if i.Rows() != 2 {
				p.Errorf("%d rows, want 2", i.Rows())
			}
		}
		if list, err := s.Imports(bg, by); err != nil || len(list) > 10 {
			p.Errorf("%d imports, %v; want at most 10", len(list), err)
		}
	})
}
