package proof_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of PostgreSQL

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// edit is an edit of the database by hand. Words in braces are ids: see newClub.
type edit struct{ what, sql string }

// edits are the edits of the table in docs/proof.md. The player a has two approvals; the guardian of b said no, and its student has not
// answered; the student of c has no number; r was removed, e erased, and the guardian of l deleted the account; d has a dispute.
var edits = []edit{
	{"**State.** A no becomes a yes", `UPDATE parties SET state = 'approved' WHERE role = 'guardian' AND player_id = {b}`},
	{"A consent without an answer becomes a yes", `UPDATE parties SET state = 'approved' WHERE role = 'student' AND player_id = {b}`},
	{"A no becomes a yes, with another decision in the history", `UPDATE parties SET state = 'approved', changed_at = changed_at + 1 WHERE role = 'guardian' AND player_id = {b}; UPDATE approval_history SET action = 'approved', reason = NULL WHERE player_id = {b}`},
	{"The same, without the keys of the records, dated before the log", `DELETE FROM record_keys WHERE player_id = {b} AND party = 'guardian'; UPDATE parties SET state = 'approved' WHERE role = 'guardian' AND player_id = {b}; UPDATE players SET created_at = 1 WHERE id = {b}; UPDATE approval_history SET action = 'approved', id = '0', decided_at = 1 WHERE player_id = {b}`},
	{"The same, with the records of a yes of another player", `UPDATE parties SET state = 'approved' WHERE role = 'guardian' AND player_id = {b}; DELETE FROM record_keys WHERE player_id = {b} AND party = 'guardian'; UPDATE record_keys SET player_id = {b} WHERE player_id = {c} AND party = 'guardian'`},
	{"A yes becomes a no", `UPDATE parties SET state = 'rejected' WHERE role = 'guardian' AND player_id = {a}`},
	{"A no is forgotten: the consent waits for an answer", `UPDATE parties SET state = 'pending' WHERE role = 'guardian' AND player_id = {b}`},
	{"`*_changed_at` of a yes", `UPDATE parties SET changed_at = changed_at - 1 WHERE role = 'guardian' AND player_id = {a}`},
	{"`*_pending_since`", `UPDATE parties SET pending_since = pending_since - 1 WHERE role = 'student' AND player_id = {a}`},
	{"`*_pending_reason`", `UPDATE parties SET pending_reason = 'unproved' WHERE role = 'student' AND player_id = {b}`},
	{"A no that stands is forgotten", `UPDATE parties SET refused = FALSE WHERE role = 'guardian' AND player_id = {b}`},
	{"`created_at`", `UPDATE players SET created_at = created_at - 1 WHERE id = {a}`},
	{"A player is marked deleted", `UPDATE players SET deleted_at = 1 WHERE id = {a}`},
	{"A removed player is there again", `UPDATE players SET deleted_at = NULL WHERE id = {r}`},
	{"A player is marked erased", `UPDATE players SET deleted_at = 1, erased_at = 1 WHERE id = {a}`},
	{"An erased player is there again", `UPDATE players SET deleted_at = NULL, erased_at = NULL WHERE id = {e}`},
	{"A player is given to another coach", `UPDATE players SET coach_id = {coach2} WHERE id = {a}`},
	{"**Parties.** Another account and its number become the guardian", `UPDATE parties SET account_id = {stranger}, number = '{strangerNumber}' WHERE role = 'guardian' AND player_id = {a}`},
	{"Another account alone", `UPDATE parties SET account_id = {stranger} WHERE role = 'guardian' AND player_id = {a}`},
	{"Another number alone", `UPDATE parties SET number = '{strangerNumber}' WHERE role = 'guardian' AND player_id = {a}`},
	{"Another student account and its number", `UPDATE parties SET account_id = {otherStudent}, number = '{otherStudentNumber}' WHERE role = 'student' AND player_id = {a}`},
	{"A student without a number gets an account", `UPDATE parties SET account_id = {otherStudent}, number = '{otherStudentNumber}' WHERE role = 'student' AND player_id = {c}`},
	{"The number of the student is removed", `UPDATE parties SET account_id = NULL, number = NULL WHERE role = 'student' AND player_id = {a}`},
	{"A guardian who deleted the account is there again", `UPDATE parties SET account_id = {left}, name = 'X', number = '{strangerNumber}' WHERE role = 'guardian' AND player_id = {l}`},
	{"The row of a party is deleted", `DELETE FROM parties WHERE role = 'guardian' AND player_id = {a}`},
	{"A second guardian with a yes is added", `INSERT INTO parties (player_id, role, position, coach_id, account_id, number, name, relationship, state, changed_at, pending_since, request_id) SELECT player_id, role, 2, coach_id, account_id, number, name, relationship, 'approved', changed_at, pending_since, request_id FROM parties WHERE role = 'guardian' AND player_id = {b}`},
	{"A party is of another coach", `UPDATE parties SET coach_id = {coach2} WHERE role = 'student' AND player_id = {a}`},
	{"A party is marked removed", `UPDATE parties SET deleted_at = 1 WHERE role = 'guardian' AND player_id = {a}`},
	{"The number of the account of a guardian", `UPDATE accounts SET mobile_number = '+919812380999' WHERE id = {guardian}`},
	{"The role of the account of a guardian", `UPDATE accounts SET role = 'coach' WHERE id = {guardian}`},
	{"The name of the guardian", `UPDATE parties SET name = 'Somebody Else' WHERE role = 'guardian' AND player_id = {a}`},
	{"The relationship of the guardian", `UPDATE parties SET relationship = 'uncle' WHERE role = 'guardian' AND player_id = {a}`},
	{"The rule of the guardians", `UPDATE players SET guardian_rule = 'all' WHERE id = {a}`},
	{"The name of the student", `UPDATE players SET student_name = 'Another Child' WHERE id = {a}`},
	{"The birth date: the child is an adult", `UPDATE players SET date_of_birth = '1990-01-01' WHERE id = {a}`},
	{"**History.** A revocation is deleted", `DELETE FROM approval_history WHERE player_id = {a} AND action = 'revoked'`},
	{"A yes is deleted", `DELETE FROM approval_history WHERE player_id = {a} AND approver_type = 'student'`},
	{"All decisions about a player are deleted", `DELETE FROM approval_history WHERE player_id = {a}`},
	{"A decision is moved to another player", `UPDATE approval_history SET player_id = {b} WHERE player_id = {c}`},
	{"The account that decided", `UPDATE approval_history SET approver_id = {stranger} WHERE player_id = {a} AND action = 'revoked'`},
	{"The party that decided", `UPDATE approval_history SET approver_type = 'student' WHERE player_id = {a} AND action = 'revoked'`},
	{"What was decided", `UPDATE approval_history SET action = 'approved' WHERE player_id = {a} AND action = 'revoked'`},
	{"When it was decided", `UPDATE approval_history SET decided_at = decided_at - 1 WHERE player_id = {a} AND action = 'revoked'`},
	{"The reason of a no", `UPDATE approval_history SET reason = 'Another reason' WHERE player_id = {b}`},
	{"The reason of a no is removed", `UPDATE approval_history SET reason = NULL WHERE player_id = {b}`},
	{"A yes gets a reason", `UPDATE approval_history SET reason = 'Forced' WHERE player_id = {a} AND approver_type = 'student'`},
	{"The request that was answered", `UPDATE approval_history SET request_id = 'x' WHERE player_id = {a} AND approver_type = 'student'`},
	{"How it was answered (`via`)", `UPDATE approval_history SET via = 'voice' WHERE player_id = {a} AND approver_type = 'student'`},
	{"The hash of the notice", `UPDATE approval_history SET notice_hash = 'x' WHERE player_id = {a} AND approver_type = 'student'`},
	{"The hash of the question", `UPDATE approval_history SET text_hash = 'x' WHERE player_id = {a} AND approver_type = 'student'`},
	{"The mark that the device is the coach's", `UPDATE approval_history SET coach_device = {coach} WHERE player_id = {a} AND approver_type = 'student'`},
	{"The id of a decision", `UPDATE approval_history SET id = 'x' WHERE player_id = {a} AND approver_type = 'student'`},
	{"A yes is added", `INSERT INTO approval_history (id, player_id, approver_type, approver_id, action, decided_at) SELECT 'x', player_id, 'guardian', approver_id, 'approved', decided_at + 1 FROM approval_history WHERE player_id = {b}`},
	{"A yes is added, dated before the player", `INSERT INTO approval_history (id, player_id, approver_type, approver_id, action, decided_at) SELECT '0', player_id, 'guardian', approver_id, 'approved', 1 FROM approval_history WHERE player_id = {b}`},
	{"**Requests.** An answered one has another answer", `UPDATE requests SET state = 'rejected' WHERE player_id = {a} AND approver_type = 'student'`},
	{"An answered one is open again", `UPDATE requests SET state = 'pending', closed_at = NULL WHERE player_id = {b} AND approver_type = 'guardian'`},
	{"An open one is closed", `UPDATE requests SET state = 'cancelled', closed_at = 1 WHERE player_id = {b} AND approver_type = 'student'`},
	{"A disputed one is cancelled", `UPDATE requests SET state = 'cancelled' WHERE player_id = {d} AND state = 'disputed'`},
	{"A disputed one is open again", `UPDATE requests SET state = 'pending', closed_at = NULL, via = NULL WHERE player_id = {d} AND state = 'disputed'`},
	{"When it was answered", `UPDATE requests SET closed_at = closed_at - 1 WHERE player_id = {a} AND approver_type = 'student'`},
	{"When it was asked", `UPDATE requests SET requested_at = requested_at - 1 WHERE player_id = {a} AND approver_type = 'student'`},
	{"How it was answered", `UPDATE requests SET via = 'voice' WHERE player_id = {a} AND approver_type = 'student'`},
	{"Whom it asked", `UPDATE requests SET approver_id = {stranger} WHERE player_id = {b} AND approver_type = 'guardian'`},
	{"It is moved to another player", `UPDATE requests SET player_id = {c} WHERE player_id = {b} AND approver_type = 'student'`},
	{"It is deleted", `DELETE FROM requests WHERE player_id = {b} AND approver_type = 'student'`},
	{"One is added", `INSERT INTO requests (id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed) SELECT 'x', player_id, coach_id, approver_type, approver_id, 'pending', channels, 1, 1, delivery_failed FROM requests WHERE player_id = {a} AND approver_type = 'student'`},
	{"Which one is the newest", `UPDATE parties SET request_id = NULL WHERE role = 'guardian' AND player_id = {a}`},
	{"**Log.** The body of a record becomes that of another one", `UPDATE consent_records SET body = (SELECT body FROM consent_records WHERE position = 2) WHERE position = 1`},
	{"Two records are swapped", `UPDATE consent_records SET position = -1 WHERE position = 1; UPDATE consent_records SET position = 1 WHERE position = 2; UPDATE consent_records SET position = 2 WHERE position = -1`},
	{"A record is deleted", `DELETE FROM consent_records WHERE position = 3`},
	{"A record and its key are deleted", `DELETE FROM record_keys WHERE record_id = (SELECT id FROM consent_records WHERE position = 3); DELETE FROM consent_records WHERE position = 3`},
	{"A record is added behind the last one", `INSERT INTO consent_records (id, body, at, position) SELECT 'x', body, at, (SELECT size FROM consent_log) FROM consent_records WHERE position = 1`},
	{"A record waits for its position, without a key", `INSERT INTO consent_records (id, body, at) SELECT 'x', body, at FROM consent_records WHERE position = 1`},
	{"The key of a yes is deleted", `DELETE FROM record_keys WHERE record_id IN (SELECT id FROM approval_history WHERE player_id = {c})`},
	{"The key of a yes is emptied, as by an erasure", `UPDATE record_keys SET sealed = NULL WHERE record_id IN (SELECT id FROM approval_history WHERE player_id = {c})`},
	{"The key of a yes becomes that of another record", `UPDATE record_keys SET sealed = (SELECT k.sealed FROM record_keys k JOIN consent_records r ON r.id = k.record_id WHERE r.position = 1) WHERE record_id IN (SELECT id FROM approval_history WHERE player_id = {c})`},
	{"All keys of a player are deleted", `DELETE FROM record_keys WHERE player_id = {a}`},
	{"A key is given to another party", `UPDATE record_keys SET party = 'student' WHERE record_id IN (SELECT id FROM approval_history WHERE player_id = {c})`},
	{"A key is given to another player", `UPDATE record_keys SET player_id = {b} WHERE record_id IN (SELECT id FROM approval_history WHERE player_id = {c})`},
	{"A key is given to another account, which then reads the receipt", `UPDATE record_keys SET account_id = {stranger} WHERE record_id IN (SELECT id FROM approval_history WHERE player_id = {c})`},
	{"The order of two records (`version`)", `UPDATE record_keys SET version = version + 100 WHERE record_id IN (SELECT id FROM approval_history WHERE player_id = {a} AND action = 'revoked')`},
	{"The last record is cut off, with its key and decision", `DELETE FROM record_keys WHERE record_id = (SELECT id FROM consent_records ORDER BY position DESC LIMIT 1); DELETE FROM approval_history WHERE id = (SELECT id FROM consent_records ORDER BY position DESC LIMIT 1); DELETE FROM consent_records WHERE position = (SELECT size - 1 FROM consent_log); UPDATE consent_log SET size = size - 1`},
	{"The hash of a record in its tile", `UPDATE log_hashes SET hash = (SELECT hash FROM log_hashes WHERE position = 2) WHERE position = 1`},
	{"The hash of a record in its tile is deleted", `DELETE FROM log_hashes WHERE position = 1`},
	{"Tiles are deleted", `DELETE FROM log_hashes`},
	{"The size of the log", `UPDATE consent_log SET size = size - 1`},
	{"The signed checkpoint is deleted", `UPDATE consent_log SET checkpoint = NULL`},
	{"The signed checkpoint becomes an older one", `UPDATE consent_log SET checkpoint = {older}`},
	{"The name of the log", `UPDATE consent_log SET origin = 'another.example/log'`},
	{"The row of the log is deleted", `DELETE FROM consent_log`},
	{"All records are deleted", `DELETE FROM consent_records`},
	{"The whole log is deleted: records, keys, tiles, row", `DELETE FROM consent_records; DELETE FROM record_keys; DELETE FROM log_hashes; DELETE FROM consent_log`},
	{"The whole log is deleted, and looks like a new one", `DELETE FROM consent_records; DELETE FROM record_keys; DELETE FROM log_hashes; UPDATE consent_log SET origin = '', size = 0, checkpoint = NULL`},
	{"**Erasure.** `erasures` forgets a player", `DELETE FROM erasures WHERE object_id = {e}`},
	{"`erasures` names a live player", `INSERT INTO erasures (object_id, kind, erased_at) VALUES ({a}, 'player', 1)`},
	{"`erasures` names a live account", `INSERT INTO erasures (object_id, kind, erased_at) VALUES ({guardian}, 'guardian', 1)`},
	{"`erasures` forgets an account whose keys are gone", `DELETE FROM erasures WHERE object_id = {left}`},
	{"The record of an erasure loses its key", `DELETE FROM record_keys WHERE player_id = {e} AND sealed IS NOT NULL`},
	{"**Whole rows.** A player is deleted with history and requests", `DELETE FROM approval_history WHERE player_id = {a}; DELETE FROM requests WHERE player_id = {a}; DELETE FROM parties WHERE player_id = {a}; DELETE FROM players WHERE id = {a}`},
	{"The same, with the keys of the records", `DELETE FROM approval_history WHERE player_id = {a}; DELETE FROM requests WHERE player_id = {a}; DELETE FROM record_keys WHERE player_id = {a}; DELETE FROM parties WHERE player_id = {a}; DELETE FROM players WHERE id = {a}`},
	{"A player is added without records", `INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at) SELECT 'x', coach_id, 1, 'X', 'x', '2014-01-01', '', 1 FROM players WHERE id = {a}; INSERT INTO parties (player_id, role, position, coach_id, account_id, state, pending_since) SELECT 'x', role, 1, coach_id, account_id, 'approved', 1 FROM parties WHERE player_id = {a}`},
	{restored, ""},
	{"**Beside the consent.** The medical note", `UPDATE players SET medical = NULL WHERE id = {a}`},
	{"The e-mail address of the guardian", `UPDATE parties SET email = 'x@example.test' WHERE role = 'guardian' AND player_id = {a}`},
	{"A language, or why the coach keeps the data", `UPDATE parties SET language = 'hi' WHERE player_id = {a}; UPDATE players SET basis = 'other' WHERE id = {a}`},
	{"The refusal behind a dispute is deleted: the coach may ask again", `DELETE FROM disputes WHERE player_id = {d}`},
	{"The name of the coach", `UPDATE coaches SET name = 'Somebody Else' WHERE id = {coach}`},
}

// restored is the edit that brings an older copy of all tables back.
const restored = "**Rollback.** An older copy of the database, from before a revocation, is restored"

// club is a service with the players of edits.
type club struct {
	testing.TB
	raw  *sql.DB
	ids  *strings.Replacer
	kept []byte // the newest checkpoint
	// olderCheckpoint is that of older.
	olderCheckpoint []byte
	older, full     tables
	keys            map[string][]any // of the rows of all tables
}

func newClub(t *testing.T, s *touchlinetest.Service) *club {
	t.Helper()
	c := &club{TB: t, keys: map[string][]any{}, raw: openRaw(t, s.Config.DatabaseURL.Reveal())}
	coach, coach2 := s.Coach(t, "+919812380001"), s.Coach(t, "+919812380002")
	step := func(by *touchlinetest.User, method, path string, body any, status int) *touchlinetest.Response {
		t.Helper()
		s.Clock.Skip(time.Second)
		return by.Call(t, method, path, body).Want(t, status)
	}
	add := func(name, guardian, student string) string {
		t.Helper()
		body := touchlinetest.Minor(guardian, student)
		body["student"].(object)["full_name"] = name
		s.Clock.Skip(time.Second)
		return coach.AddPlayer(t, body).String("player_id")
	}
	decide := func(by *touchlinetest.User, party, player, action, reason string) {
		t.Helper()
		body := object{"player_id": player, "action": action}
		if reason != "" {
			body["reason"] = reason
		}
		step(by, "PUT", "/api/approval/"+party+"-response", body, 200)
	}
	a, b := add("Asha Rao", "+919812380011", "+919812380012"), add("Bina Rao", "+919812380011", "+919812380012")
	l, d := add("Lata Shah", "+919812380031", "+919812380022"), add("Devi Rao", "+919812380021", "")
	guardian, student := s.SignIn(t, "guardian", "+919812380011"), s.SignIn(t, "student", "+919812380012")
	stranger, otherStudent, left := s.SignIn(t, "guardian", "+919812380021"), s.SignIn(t, "student", "+919812380022"), s.SignIn(t, "guardian", "+919812380031")
	step(coach, "PATCH", "/api/players/"+a, object{"guardian": object{"relationship": "aunt"}}, 200)
	decide(guardian, "guardian", a, "approved", "")
	decide(student, "student", a, "approved", "")
	decide(guardian, "guardian", a, "revoked", "")
	step(coach, "POST", "/api/approval/send-guardian-request", object{"player_id": a}, 201)
	decide(guardian, "guardian", a, "approved", "")
	decide(guardian, "guardian", b, "rejected", "Too far")
	third := add("Chitra Rao", "+919812380011", "")
	decide(guardian, "guardian", third, "approved", "")
	r, e := add("Ria Rao", "+919812380011", "+919812380012"), add("Ela Shah", "+919812380041", "+919812380042")
	decide(guardian, "guardian", r, "approved", "")
	step(coach, "DELETE", "/api/players/"+r, nil, 204)
	decide(left, "guardian", l, "approved", "")
	step(left, "DELETE", "/api/me", nil, 204)
	request := stranger.Call(t, "GET", "/api/players/"+d, nil).Want(t, 200).String("guardian_request_id")
	if request == "" {
		ok(t, c.raw.QueryRowContext(bg, `SELECT request_id FROM parties WHERE player_id = $1 AND role = 'guardian'`, d).Scan(&request))
	}
	step(stranger, "POST", "/api/approval/requests/"+request+"/dispute", nil, 200)
	s.CLI(t, func(ctx context.Context, by actor.Operator, ops *server.Operators) {
		people, err := ops.People(ctx)
		ok(t, err)
		ok(t, people.ErasePlayerFor(ctx, by, e, "Asked by letter"))
	})
	// What changes lawfully contradicts nothing.
	x := add("Xena Das", "+919812380051", "")
	step(coach, "PATCH", "/api/players/"+x, object{"student": object{"contact_number": "+919812380052"}}, 200)
	step(coach, "PATCH", "/api/players/"+x, object{"student": object{"full_name": "Xenia Das", "date_of_birth": "2013-01-02"}}, 200)
	step(coach, "PATCH", "/api/players/"+x, object{"guardian": object{"mobile_number": "+919812380053", "name": "Tara Das"}}, 200)
	ok(t, c.raw.QueryRowContext(bg, `SELECT request_id FROM parties WHERE player_id = $1 AND role = 'guardian'`, x).Scan(&request))
	step(coach, "POST", "/api/approval/requests/"+request+"/cancel", nil, 200)
	step(coach, "PATCH", "/api/players/"+x, object{"student": object{"full_name": "Xenia Devi Das", "contact_number": nil}}, 200)
	c.settle()
	c.older = c.dump()
	ok(t, c.raw.QueryRowContext(bg, `SELECT checkpoint FROM consent_log`).Scan(&c.olderCheckpoint))
	decide(guardian, "guardian", third, "revoked", "")
	step(coach, "POST", "/api/approval/send-guardian-request", object{"player_id": third}, 201)
	decide(guardian, "guardian", third, "approved", "")
	c.settle()
	ok(t, s.Stop())
	c.full = c.dump()
	ok(t, c.raw.QueryRowContext(bg, `SELECT checkpoint FROM consent_log`).Scan(&c.kept))
	c.ids = strings.NewReplacer(
		"{a}", "'"+a+"'", "{b}", "'"+b+"'", "{c}", "'"+third+"'", "{d}", "'"+d+"'", "{e}", "'"+e+"'", "{l}", "'"+l+"'", "{r}", "'"+r+"'",
		"{coach}", "'"+coach.ID+"'", "{coach2}", "'"+coach2.ID+"'", "{guardian}", "'"+guardian.ID+"'", "{stranger}", "'"+stranger.ID+"'", "{left}", "'"+left.ID+"'",
		"{otherStudent}", "'"+otherStudent.ID+"'", "{strangerNumber}", "+919812380021", "{otherStudentNumber}", "+919812380022",
	)
	return c
}

// settle waits until all records have a position.
func (c *club) settle() {
	c.Helper()
	ok(c, waitFor(func() bool {
		var waiting int
		return c.raw.QueryRowContext(bg, `SELECT count(*) FROM consent_records WHERE position IS NULL`).Scan(&waiting) == nil && waiting == 0
	}))
}

// tables are rows of the edited tables by their keys.
type tables map[string]map[string][]any

// editedTables are the tables that dump reads, with the columns of their keys.
var editedTables = map[string][]string{
	"accounts": {"id"}, "players": {"id"}, "parties": {"player_id", "role", "position"}, "requests": {"id"}, "approval_history": {"id"}, "disputes": {"request_id"}, "erasures": {"object_id"}, "coaches": {"id"},
	"changes": {"player_id", "sequence"}, "notifications": {"account_id", "seq"},
	"consent_records": {"id"}, "record_keys": {"record_id"}, "log_tiles": {"level", "n"}, "log_hashes": {"position"}, "consent_log": {"id"},
}

// dump reads the tables.
func (c *club) dump() tables {
	c.Helper()
	all := tables{}
	for table := range editedTables {
		all[table] = map[string][]any{}
		rows, err := c.raw.QueryContext(bg, `SELECT * FROM `+table)
		ok(c, err)
		columns, err := rows.Columns()
		ok(c, err)
		for rows.Next() {
			row, dest := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				dest[i] = &row[i]
			}
			ok(c, rows.Scan(dest...))
			values := []any{}
			for _, column := range editedTables[table] {
				values = append(values, row[slices.Index(columns, column)])
			}
			c.keys[table+" "+fmt.Sprint(values...)] = values
			all[table][fmt.Sprint(values...)] = row
		}
		ok(c, errorsOf(rows.Err(), rows.Close()))
	}
	return all
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// restore makes the tables what they were.
func (c *club) restore(want tables) {
	c.Helper()
	all := c.dump()
	tx, err := c.raw.BeginTx(bg, nil)
	ok(c, err)
	for table, now := range all {
		for key, row := range now {
			if !reflect.DeepEqual(row, want[table][key]) {
				where := `(` + strings.Join(editedTables[table], ", ") + `) = (` + placeholders(len(c.keys[table+" "+key])) + `)`
				_, err := tx.ExecContext(bg, `DELETE FROM `+table+` WHERE `+where, c.keys[table+" "+key]...)
				ok(c, err)
				now[key] = nil
			}
		}
		for key, row := range want[table] {
			if now[key] == nil {
				_, err := tx.ExecContext(bg, `INSERT INTO `+table+` VALUES (`+placeholders(len(row))+`)`, row...)
				ok(c, err)
			}
		}
	}
	ok(c, tx.Commit())
}

func placeholders(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint("$", i+1))
	}
	return strings.Join(list, ", ")
}

// openRaw opens the database as an attacker does: beside the service, and without foreign keys.
func openRaw(t *testing.T, address string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if path, is := strings.CutPrefix(address, "sqlite:"); is {
		driver, address = "sqlite", "file:"+path+"?_pragma=busy_timeout(20000)"
	} else if u, err := url.Parse(address); err == nil {
		query := u.Query()
		query.Del("pool_max_conns")
		query.Set("session_replication_role", "replica")
		u.RawQuery = query.Encode()
		address = u.String()
	}
	db, err := sql.Open(driver, address)
	ok(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// found says who found an edit.
type found struct{ audit, hourly, once, kept bool }

func (f found) row(what string) string {
	mark := func(is bool) string {
		if is {
			return "found"
		}
		return "–"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |", what, mark(f.audit), mark(f.hourly), mark(f.once), mark(f.kept))
}

// try makes an edit, asks everybody, and takes it back.
func (c *club) try(ops *server.Operators, e edit) (f found) {
	c.Helper()
	log, err := ops.Log(bg) // each knows what it published
	ok(c, err)
	if e.what == restored {
		c.restore(c.older)
	}
	for statement := range strings.SplitSeq(c.ids.Replace(e.sql), ";") {
		if statement = strings.TrimSpace(statement); statement == "" {
			continue
		}
		var args []any
		if strings.Contains(statement, "{older}") {
			statement, args = strings.ReplaceAll(statement, "{older}", "$1"), []any{c.olderCheckpoint}
		}
		result, err := c.raw.ExecContext(bg, statement, args...)
		ok(c, err)
		if n, _ := result.RowsAffected(); n == 0 {
			c.Errorf("%s: no row was edited: %s", e.what, statement)
		}
	}
	r, err := log.Audit(bg)
	ok(c, err)
	if testing.Verbose() {
		c.Logf("%s: %q", e.what, r.Findings)
	}
	f.audit = len(r.Findings) > 0
	r, err = log.Audit(bg, c.kept)
	ok(c, err)
	f.kept = slices.ContainsFunc(r.Findings, func(finding string) bool { return strings.HasPrefix(finding, "outside checkpoint") })
	log.Gate = &proof.Gate{}
	log.Withhold = func(context.Context, string, actor.Role, string, int64) (bool, error) {
		f.hourly = true
		return true, nil
	}
	ok(c, log.Sample(bg))
	_, err = log.Number(bg)
	ok(c, err)
	_, err = log.Number(bg)
	ok(c, err)
	f.once = log.Gate.Closed()
	if f.once {
		f.hourly = false // there is nothing left to withhold
	}
	c.restore(c.full)
	return f
}

// TestEdits compares the table of docs/proof.md with what is found in a database that was edited by hand.
func TestEdits(t *testing.T) {
	t.Parallel()
	if len(edits) < 80 {
		t.Errorf("%d edits", len(edits))
	}
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := newClub(t, s)
		s.CLI(t, func(ctx context.Context, _ actor.Operator, ops *server.Operators) {
			log, err := ops.Log(ctx)
			ok(t, err)
			if r, err := log.Audit(ctx, c.kept); err != nil || len(r.Findings) > 0 {
				t.Fatalf("without an edit: %q, %v", r.Findings, err)
			}
			var table []string
			for _, e := range edits {
				table = append(table, c.try(ops, e).row(e.what))
			}
			if r, err := log.Audit(ctx, c.kept); err != nil || len(r.Findings) > 0 {
				t.Fatalf("after all edits were taken back: %q, %v", r.Findings, err)
			}
			compareTable(t, table)
		})
	})
}

const proofPage, tableStart = "../../docs/proof.md", "| edit | audit | hourly check | each second | kept checkpoint |\n|---|---|---|---|---|\n"

// compareTable compares the table of edits in docs/proof.md, or writes it with -update.
func compareTable(t *testing.T, table []string) {
	t.Helper()
	page, err := os.ReadFile(proofPage)
	ok(t, err)
	before, rest, has := strings.Cut(string(page), tableStart)
	got, after, ended := strings.Cut(rest, "|\n\n")
	if !has || !ended {
		t.Fatal("docs/proof.md has no table of edits")
	}
	want := strings.TrimSuffix(strings.Join(table, "\n"), "|")
	if got == want {
		return
	}
	if flag.Lookup("update").Value.String() == "true" {
		ok(t, os.WriteFile(proofPage, []byte(before+tableStart+want+"|\n\n"+after), 0o600))
		return
	}
	have := strings.Split(got, "\n")
	for i, line := range table {
		if i >= len(have) || strings.TrimSuffix(have[i], "|") != strings.TrimSuffix(line, "|") {
			t.Errorf("docs/proof.md differs (go test -run TestEdits -update): %s", line)
		}
	}
}
