package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/team"
)

// planted are personal values of the family that plantFamily adds. No part of a value is in a name of the schema.
var planted = []string{
	"Zarathustra", "zarathustra", "2013-07-19", "Peanutallergy", "Xanthippe", "xanthippe@", "godmother", "9800099931", "9800099932",
	"98000 99931", "98000-99932", "Limpsheavily", "Cannotswim", "Comeslate", "Writestwice", "Toofaraway", "Asksforaday", "098000-99931", "+91-98000-99931", "(98000)99931", "0091 98000 99931",
}

// plantFamily adds a player with planted values in all that a family and its coach write, and returns it.
func (p *fixture) plantFamily(by actor.Actor) string {
	p.Helper()
	s := child("Zarathustra Rao", number(99932))
	s.DateOfBirth, s.Medical, s.Language = approval.Date{Year: 2013, Month: 7, Day: 19}, "Peanutallergy", "hi"
	g := mother(number(99931))
	g.Name, g.Email, g.Relationship = "Xanthippe Rao", "xanthippe@example.com", "godmother"
	a, err := p.Add(bg, by, s, g)
	ok(p, err)
	_, err = p.FollowUp(bg, by, a.Party(actor.Guardian).Request.ID, "Asksforaday")
	ok(p, err)
	guardian := p.as(actor.Guardian, number(99931))
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	batch := p.addBatch(by, a.ID)
	for i, note := range []string{"Limpsheavily", "Cannotswim"} {
		sheet := marksOf(team.Present, a.ID)
		sheet[0].Note = &note
		_, err := p.attendance().Replace(bg, by, batch, trainingDay, sheet, attendance.Precondition{Given: i > 0, Any: true})
		ok(p, err)
	}
	_, err = p.messages(0).Send(bg, by, conversation.Draft{
		To: conversation.Target{PlayerIDs: []string{a.ID}}, Audience: conversation.ToBoth, Text: "Comeslate 98000 99931, 098000-99931, +91-98000-99931, (98000)99931, 0091 98000 99931",
		Channels: []conversation.Channel{conversation.InApp, conversation.SMS},
	})
	ok(p, err)
	p.expand()
	_, err = p.messages(0).Reply(bg, guardian, a.ID, "Writestwice, call 98000-99932")
	ok(p, err)
	_, _, err = p.Decide(bg, guardian, a.ID, approval.Decision{Action: approval.Revoke, Reason: "Toofaraway"})
	ok(p, err)
	return a.ID
}

// columns lists the columns of a table.
func (p *fixture) columns(table string) []string {
	p.Helper()
	query := `SELECT name FROM pragma_table_info($1)`
	if p.postgres {
		query = `SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1`
	}
	rs, err := p.db.Query(bg, query, table)
	names, err := database.CollectTexts(rs, err)
	ok(p, err)
	return names
}

// rows returns all rows of all tables as text.
func (p *fixture) rows() string {
	p.Helper()
	var all strings.Builder
	for _, table := range p.tables() {
		var values []string
		for _, column := range p.columns(table) {
			values = append(values, `coalesce(CAST(`+column+` AS TEXT), '')`)
		}
		rs, err := p.db.Query(bg, `SELECT `+strings.Join(values, ` || ' ' || `)+` FROM `+table)
		rows, err := database.CollectTexts(rs, err)
		ok(p, err)
		fmt.Fprintln(&all, table, strings.Join(rows, "\n"))
	}
	return all.String()
}

// files returns the file of the SQLite database and its write-ahead log.
func (p *fixture) files() map[string][]byte {
	p.Helper()
	var path string
	ok(p, p.db.QueryRow(bg, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&path))
	files := map[string][]byte{}
	for _, name := range []string{path, path + "-wal"} {
		content, err := os.ReadFile(name)
		ok(p, err)
		files[filepath.Base(name)] = content
	}
	return files
}

// TestErasure: after RETAIN_DELETED nothing that a family and its coach wrote is left, and another child with the same
// guardian keeps its data until it is removed too.
func TestErasure(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		id := p.plantFamily(by)
		before := p.rows()
		for _, value := range []string{"Zarathustra", "Xanthippe", "9800099931", "Limpsheavily", "Cannotswim", "Comeslate", "Writestwice", "Asksforaday", "Toofaraway", "(98000)99931"} {
			if !strings.Contains(before, value) {
				p.Errorf("%s was not planted", value)
			}
		}
		brother := p.add(by, "Brother", number(99931), "")
		ok(p, p.Remove(bg, by, id))
		p.clock.advance(29 * day)
		ok(p, second(p.db.Sweep(bg, p.clock.Now())))
		if !strings.Contains(p.rows(), "Zarathustra") {
			p.Error("erased before its time")
		}
		// As the worker does, long before.
		ok(p, run(p.db, `UPDATE deliveries SET state = 'failed', reason = 'expired', lease = NULL WHERE kind = 'notice'`))
		p.clock.advance(2 * day)
		ok(p, second(p.db.Sweep(bg, p.clock.Now())))
		left := p.rows()
		for _, value := range planted {
			if at := strings.Index(left, value); at >= 0 && !strings.Contains(value, "99931") {
				p.Errorf("%s is left: %.300s", value, left[max(0, at-150):])
			}
		}
		if p.as(actor.Guardian, number(99931)); p.count(`SELECT count(*) FROM accounts WHERE mobile_number = $1 AND closed_at IS NULL`, string(number(99931))) != 1 {
			p.Error("the account of another child's guardian was erased")
		}
		ok(p, p.Remove(bg, by, brother.ID))
		p.clock.advance(31 * day)
		ok(p, second(p.db.Sweep(bg, p.clock.Now())))
		left = p.rows()
		for _, value := range planted {
			if at := strings.Index(left, value); at >= 0 {
				p.Errorf("%s is left: %.300s", value, left[max(0, at-150):])
			}
		}
		if !p.postgres {
			for name, content := range p.files() {
				for _, value := range planted {
					if bytes.Contains(content, []byte(value)) {
						p.Errorf("%s is left in the file %s", value, name)
					}
				}
			}
		}
		if p.postgres {
			p.TB.(*testing.T).Run("pg_dump", func(t *testing.T) {
				dump := storetest.Dump(t, p.url)
				if !strings.Contains(dump, by.AccountID) {
					t.Fatalf("pg_dump wrote no rows: %.300s", dump)
				}
				for _, value := range planted {
					if at := strings.Index(dump, value); at >= 0 {
						t.Errorf("pg_dump has %s: %.300s", value, dump[max(0, at-150):])
					}
				}
			})
		}
		ok(p, second(p.db.Sweep(bg, p.clock.Now())))
		again := p.add(by, "Zarathustra Rao", number(99931), number(99932))
		if guardian := p.as(actor.Guardian, number(99931)); p.count(`SELECT count(*) FROM notifications WHERE account_id = $1 AND player_id <> $2`, guardian.AccountID, again.ID) != 0 {
			p.Error("a number that is used again has old notifications")
		}
	})
}

// TestErasureContinues: an erasure takes more rows than one transaction does, and continues after a process that stopped.
func TestErasureContinues(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		id := p.plantFamily(by)
		guardian := p.as(actor.Guardian, number(99931)).AccountID
		ok(p, p.db.Write(bg, func(tx *store.Tx) error {
			for i := range 1201 {
				err := tx.Defer(bg, `
					INSERT INTO team_replies (id, coach_id, player_id, party, account_id, body, created_at)
					VALUES ($1, $2, $3, 'guardian', $4, 'Writestwice', 1)`, fmt.Sprint("reply", i), by.AccountID, id, guardian)
				if err != nil {
					return err
				}
			}
			return nil
		}))
		ok(p, p.Remove(bg, by, id))
		p.clock.advance(31 * day)
		// A process stopped after it released the number.
		ok(p, run(p.db, `UPDATE accounts SET mobile_number = 'erased:' || id, closed_at = 1 WHERE id = $1`, guardian))
		ok(p, second(p.db.Sweep(bg, p.clock.Now())))
		for query, arg := range map[string]string{
			`SELECT count(*) FROM team_replies WHERE player_id = $1`:                                            id,
			`SELECT count(*) FROM notifications WHERE account_id = $1`:                                          guardian,
			`SELECT count(*) FROM sessions WHERE account_id = $1`:                                               guardian,
			`SELECT count(*) FROM players WHERE id = $1 AND erased_at IS NULL`:                                  id,
			`SELECT count(*) FROM accounts WHERE id = $1 AND mobile_number LIKE '+%'`:                           guardian,
			`SELECT count(*) FROM record_keys WHERE account_id <> '' AND sealed IS NOT NULL AND player_id = $1`: id,
			`SELECT count(*) FROM approval_history WHERE player_id = $1 AND reason <> ''`:                       id,
		} {
			if n := p.count(query, arg); n != 0 {
				p.Errorf("%s: %d", query, n)
			}
		}
		if p.count(`SELECT count(*) FROM approval_history WHERE player_id = $1`, id) == 0 || p.count(`SELECT count(*) FROM consent_records`) == 0 {
			p.Error("the history or the records of consents are gone")
		}
	})
}

// TestRetention: notifications and deliveries end after their times; what waits to leave stays.
func TestRetention(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		p.plantFamily(by)
		ok(p, run(p.db, `UPDATE deliveries SET state = 'delivered', lease = NULL WHERE kind <> 'team'`))
		left := func(days int, notifications, done bool) {
			p.Helper()
			p.clock.advance(time.Duration(days) * day)
			ok(p, second(p.db.Sweep(bg, p.clock.Now())))
			if n := p.count(`SELECT count(*) FROM notifications`); (n > 0) != notifications {
				p.Errorf("after %d more days: %d notifications", days, n)
			}
			if n := p.count(`SELECT count(*) FROM deliveries WHERE state = 'delivered'`); (n > 0) != done {
				p.Errorf("after %d more days: %d deliveries", days, n)
			}
			if p.count(`SELECT count(*) FROM deliveries WHERE state = 'queued'`) == 0 {
				p.Error("a delivery that waits was deleted")
			}
		}
		left(89, true, true)
		left(2, true, false)
		left(273, true, false)
		left(2, false, false)
	})
}

// erasures runs the statements of the retention.
func (p *fixture) erasures() {
	p.Helper()
	by := p.coach(9931)
	ok(p, p.Remove(bg, by, p.plantFamily(by)))
	ok(p, second(retained.Due(bg, p.db, p.clock.Now().Add(31*day))))
	p.clock.advance(31*day + time.Minute)
	ok(p, second(p.db.Sweep(bg, p.clock.Now())))

	people := &privacy.Service{DB: p.db, RemovePlayer: p.RemoveForErasure, LeavePlayer: p.Leave}
	id := p.plantFamily(by)
	if list, err := people.AccountsOf(bg, number(99931)); err != nil || len(list) != 1 || list[0].Players != 1 {
		p.Errorf("accounts %v, %v", list, err)
	}
	ok(p, people.EraseAccount(bg, p.as(actor.Guardian, number(99931)).AccountID, nil))
	ok(p, people.ErasePlayer(bg, id, nil))
	ledger := privacy.Ledger{Path: filepath.Join(p.TempDir(), "erasures"), DB: p.db}
	ok(p, ledger.Append(bg))
	if n, _, err := people.Reapply(bg, ledger.Path); err != nil || n != 0 {
		p.Errorf("%d erasures were repeated, %v", n, err)
	}
	ok(p, os.WriteFile(ledger.Path, []byte("2026-03-02T09:15:00Z guardian 00000000-0000-7000-8000-000000000001\n"), 0o600))
	if n, _, err := people.Reapply(bg, ledger.Path); err != nil || n != 1 {
		p.Errorf("%d erasures of an unknown account were repeated, %v", n, err)
	}
	p.add(by, "Unanswered", number(9932), "")
	ok(p, second(retained.Due(bg, p.db, p.clock.Now().Add(31*day))))
	p.clock.advance(167 * day)
	p.retain()
	ok(p, second(retained.Due(bg, p.db, p.clock.Now().Add(15*day))))
	p.clock.advance(15 * day)
	p.retain()
}

// TestErasureTable: docs/privacy.md says of every column what erasure does with it. It fails for a new column: decide
// whether package privacy has to erase it.
func TestErasureTable(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/privacy.md")
	ok(t, err)
	line := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (the row|[^|]*) \\|([^|]*)\\|([^|]*)\\|$")
	name := regexp.MustCompile("`(\\w+)`")
	lines := map[string][]string{}
	_, section, _ := strings.Cut(string(document), "\n| table | erased | kept |")
	for _, m := range line.FindAllStringSubmatch(strings.ReplaceAll(section, " | | ", " |  | "), -1) {
		if strings.TrimSpace(m[4]) == "" {
			t.Errorf("table %s: no reason", m[1])
		}
		lines[m[1]] = m
	}
	eachEngine(t, func(p *fixture) {
		tables := p.tables()
		for table := range lines {
			if !slices.Contains(tables, table) {
				p.Errorf("docs/privacy.md has the table %s, which does not exist", table)
			}
		}
		for _, table := range tables {
			m := lines[table]
			if m == nil {
				p.Errorf("docs/privacy.md does not say what erasure does with the table %s", table)
				continue
			}
			if m[2] == "the row" {
				continue
			}
			var listed []string
			for _, c := range name.FindAllStringSubmatch(m[2]+m[3], -1) {
				listed = append(listed, c[1])
			}
			columns := p.columns(table)
			slices.Sort(columns)
			slices.Sort(listed)
			if !slices.Equal(columns, listed) {
				p.Errorf("docs/privacy.md, table %s: got the columns %q, want %q", table, listed, columns)
			}
		}
	})
}
