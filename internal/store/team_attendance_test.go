package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/team"
)

const trainingDay team.Date = "2026-03-02" // the day of the fixture's clock

// squad adds a coach with a batch of n players, without their guardians' requests.
func (p *fixture) squad(nth, n int) (by actor.Actor, batchID string, playerIDs []string) {
	p.Helper()
	by = p.coach(nth)
	batchID = p.batch(by, "U12").ID
	ok(p, p.sql.Write(bg, func(tx *database.Tx) error {
		playerIDs = nil
		for i := range n {
			id := fmt.Sprintf("%s-player-%03d", by.AccountID, i)
			playerIDs = append(playerIDs, id)
			if _, err := tx.Exec(bg, `
				INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at)
				VALUES ($1, $2, 1, $3, $3, '2014-04-30', $3, 1)`, id, by.AccountID, fmt.Sprint("player ", i)); err != nil {
				return err
			}
			if _, err := tx.Exec(bg, `
				INSERT INTO parties (player_id, role, position, coach_id, state, pending_since) VALUES ($1, 'guardian', 1, $2, 'pending', 1), ($1, 'student', 1, $2, 'pending', 1)`, id, by.AccountID); err != nil {
				return err
			}
			if _, err := tx.Exec(bg, `INSERT INTO batch_players (coach_id, batch_id, player_id, joined_at) VALUES ($1, $2, $3, 1)`, by.AccountID, batchID, id); err != nil {
				return err
			}
		}
		return nil
	}))
	return by, batchID, playerIDs
}

func marksOf(mark team.Mark, playerIDs ...string) []attendance.NewMark {
	var marks []attendance.NewMark
	for _, id := range playerIDs {
		marks = append(marks, attendance.NewMark{PlayerID: id, Mark: mark})
	}
	return marks
}

// TestSheetStatements: a sheet of 200 marks is one transaction with fewer than 10 statements,
// when it is new, changed and repeated. It runs alone, because it observes all statements.
func TestSheetStatements(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { checkSheetStatements(t, storetest.SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { checkSheetStatements(t, storetest.Postgres(t)) })
}

func checkSheetStatements(t *testing.T, url string) {
	p := newFixture(t, url)
	by, batchID, players := p.squad(1, 200)
	s := p.attendance()
	var statements atomic.Int64
	stop := database.Observe(func(string, []any) { statements.Add(1) })
	defer stop()
	for i, marks := range [][]attendance.NewMark{marksOf(team.Present, players...), marksOf(team.Late, players...), marksOf(team.Late, players...), marksOf(team.Absent, players[:100]...)} {
		statements.Store(0)
		sheet, err := s.Replace(bg, by, batchID, trainingDay, marks, attendance.Precondition{Given: i > 0, Any: true})
		ok(t, err)
		if n := statements.Load(); n == 0 || n >= 10 || len(sheet.Marks) != len(marks) {
			t.Errorf("%s: request %d: %d statements, %d marks; want less than 10, and %d", url, i, n, len(sheet.Marks), len(marks))
		}
	}
	stop()
	stored, _, err := s.Sheet(bg, by, batchID, trainingDay)
	ok(t, err)
	superseded, err := s.Superseded(bg, by, batchID, trainingDay)
	ok(t, err)
	if n := stored.Counts(); n[team.Absent] != 100 || len(stored.Marks) != 100 || stored.Version != 3 || len(superseded) != 400 {
		t.Errorf("%s: stored %v at version %d, %d superseded marks", url, n, stored.Version, len(superseded))
	}
}

// TestConcurrentSheets: of sheets that are sent at the same time one is saved, and the others
// learn that there is another one. Marks that are sent at the same time are all kept.
func TestConcurrentSheets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		const senders = 8
		p := newFixture(t, url)
		by, batchID, players := p.squad(1, 4)
		s := p.attendance()
		replace := func(match attendance.Precondition) map[string]int {
			return p.countCodes(concurrently(senders, func(i int) error {
				marks := marksOf(team.Present, players...)
				marks[0].Note = ptr(fmt.Sprint("phone ", i))
				_, err := s.Replace(bg, by, batchID, trainingDay, marks, match)
				return err
			}))
		}
		if n := replace(attendance.Precondition{}); n[""] != 1 || n["precondition_required"] != senders-1 {
			t.Errorf("first sheets: %v, want one saved", n)
		}
		if n := replace(attendance.Precondition{Given: true, Versions: []int64{1}}); n[""]+n["precondition_failed"] != senders || n[""] < 1 || n[""] > 2 {
			t.Errorf("second sheets: %v, want one saved, and perhaps one that is the same as the first", n)
		}
		before, _, err := s.Sheet(bg, by, batchID, trainingDay)
		ok(t, err)
		now := p.clock.Now()
		n := p.countCodes(concurrently(senders, func(i int) error {
			_, err := s.Merge(bg, by, batchID, trainingDay, []attendance.NewMark{{PlayerID: players[1], Mark: team.Marks[i%4], Note: ptr(fmt.Sprint(i)), MarkedAt: now.Add(time.Duration(i+1) * time.Second)}}, attendance.Precondition{})
			return err
		}))
		after, _, err := s.Sheet(bg, by, batchID, trainingDay)
		ok(t, err)
		superseded, err := s.Superseded(bg, by, batchID, trainingDay)
		ok(t, err)
		kept := 0
		for _, m := range superseded {
			if m.PlayerID == players[1] && m.MarkedAt.After(now) {
				kept++
			}
		}
		if n[""] != senders || after.Marks[1].Note != fmt.Sprint(senders-1) || kept != senders-1 || after.Version <= before.Version {
			t.Errorf("marks: %v; %+v counts, want the last; %d superseded, want %d", n, after.Marks[1], kept, senders-1)
		}
	})
}

// TestSheetsAndArchive: no sheet changes after its batch is archived, and no player joins
// one or stays in it after the player is removed.
func TestSheetsAndArchive(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		for round := range 5 {
			by, batchID, players := p.squad(round, 2)
			outside := p.add(by, fmt.Sprint("Child ", round), number(50+round), "")
			s, b := p.attendance(), p.batches()
			var atArchive atomic.Int64
			n := p.countCodes(concurrently(6, func(i int) error {
				switch i {
				case 0:
					err := b.Archive(bg, by, batchID)
					sheet, _, failed := s.Sheet(bg, by, batchID, trainingDay)
					if failed != nil {
						return failed
					}
					atArchive.Store(sheet.Version)
					return err
				case 1:
					return b.Join(bg, by, batchID, outside.ID)
				case 2:
					return p.Remove(context.WithoutCancel(bg), by, outside.ID)
				default:
					_, err := s.Merge(bg, by, batchID, trainingDay, marksOf(team.Marks[i-3], players...), attendance.Precondition{})
					return err
				}
			}))
			sheet, _, err := s.Sheet(bg, by, batchID, trainingDay)
			ok(t, err)
			if sheet.Version != atArchive.Load() {
				t.Errorf("round %d: version %d after the archive, %d later; %v", round, atArchive.Load(), sheet.Version, n)
			}
			if got := p.count(`SELECT count(*) FROM batch_players WHERE player_id = $1 AND left_at IS NULL`, outside.ID); got != 0 {
				t.Errorf("round %d: a removed player is in %d batches; %v", round, got, n)
			}
			_, err = s.Replace(bg, by, batchID, trainingDay, marksOf(team.Excused, players...), attendance.Precondition{Given: true, Any: true})
			if fault.CodeOf(err) != "batch_archived" && fault.CodeOf(err) != "precondition_failed" {
				t.Errorf("round %d: a sheet of an archived batch: %v", round, err)
			}
		}
	})
}

// TestJoinAgain: a player who joins again within a day never left. One who joins later gets no new
// mark for the days in between, and the sheet of such a day does not list the player.
func TestJoinAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		by, batchID, players := p.squad(1, 2)
		s, b := p.attendance(), p.batches()
		leaveFor := func(d time.Duration) {
			t.Helper()
			ok(t, b.Leave(bg, by, batchID, players[0]))
			p.clock.advance(d)
			ok(t, b.Join(bg, by, batchID, players[0]))
		}
		try := func(days int, change attendance.Change) (listed int, code string) {
			t.Helper()
			date := trainingDay.AddDays(days)
			_, listedPlayers, err := s.Sheet(bg, by, batchID, date)
			ok(t, err)
			_, err = change(bg, by, batchID, date, marksOf(team.Late, players[0]), attendance.Precondition{})
			return len(listedPlayers), fault.CodeOf(err)
		}
		leaveFor(team.RejoinWithin)
		if n, code := try(-30, s.Merge); n != 2 || code != "" {
			t.Errorf("after a day outside, a day of the past: %d listed, %q", n, code)
		}
		p.clock.advance(24 * time.Hour) // day 2
		leaveFor(5 * 24 * time.Hour)    // from day 2 to day 7
		leaveFor(3 * 24 * time.Hour)    // from day 7 to day 10
		for day, want := range map[int]string{1: "", 2: "validation_failed", 4: "validation_failed", 9: "validation_failed", 10: "", 11: ""} {
			for _, change := range []attendance.Change{s.Replace, s.Merge} {
				n, code := try(day, change)
				if code != want || (n == 2) != (want == "") {
					t.Errorf("day %d: %d players listed, %q, want %q", day, n, code, want)
				}
			}
		}
	})
}
