package e2e_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// withLedger sets ERASURES to a file of the test.
func withLedger(c *config.Config) { c.Erasures = filepath.Join(c.DataDir, "ledger") }

// plantedFamily are personal values that a family and its coach write in plantFamily.
var plantedFamily = []string{
	"Zarathustra", "zarathustra", "2013-07-19", "Peanutallergy", "Xanthippe", "xanthippe@", "godmother", "9812399931", "9812399932", "98123-99932",
	"Limpsheavily", "Cannotswim", "Comeslate", "Writestwice", "Toofaraway", "Asksforaday", "Paidincash", "Toopoortopay", "Lostreceipt", "Memberhere",
}

// plantFamily adds the player, and returns it with the guardian.
func plantFamily(t *testing.T, s *touchlinetest.Service, coach *touchlinetest.User) (id string, guardian *touchlinetest.User) {
	t.Helper()
	guardianNumber, studentNumber := "+919812399931", "+919812399932"
	added := coach.AddPlayer(t, object{
		"student":  object{"full_name": "Zarathustra Rao", "date_of_birth": "2013-07-19", "medical_information": "Peanutallergy", "contact_number": studentNumber},
		"guardian": object{"name": "Xanthippe Rao", "email": "xanthippe@example.com", "relationship": "godmother", "mobile_number": guardianNumber},
		"basis":    object{"kind": "other", "note": "Memberhere"},
	})
	id = added.String("player_id")
	coach.Call(t, "POST", "/api/approval/requests/"+added.String("guardian_request_id")+"/follow-up", object{"note": "Asksforaday"}, "Idempotency-Key: first").Want(t, 200)
	guardian = s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
	coach.Call(t, "PATCH", "/api/players/"+id, object{"student": object{"medical_information": "Peanutallergy, Cannotswim"}}, "Idempotency-Key: second").Want(t, 200)
	guardian.Call(t, "GET", "/api/players/"+id+"/medical", nil).Want(t, 200)
	zone, err := time.LoadLocation("Asia/Kolkata") // the default of coaches in India
	if err != nil {
		t.Fatal(err)
	}
	today, batch := s.Clock.Now().In(zone).Format(time.DateOnly), addBatch(t, coach, "Morning")
	coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+id, nil).Want(t, 204)
	for i, note := range []string{"Limpsheavily", "better"} {
		coach.Call(t, "PUT", "/api/batches/"+batch+"/attendance/"+today, object{"marks": []object{{"player_id": id, "mark": "present", "note": note}}}, []string{"If-None-Match: *", "If-Match: *"}[i])
	}
	fee := coach.Call(t, "POST", "/api/fees", object{"player_id": id, "title": "Kit", "amount": 500, "due_on": today}).Want(t, 201).String("fee_id")
	paid := coach.Call(t, "POST", "/api/fees/"+fee+"/payments", object{"amount": 1, "method": "cash", "paid_on": today, "note": "Paidincash"}).Want(t, 201)
	coach.Call(t, "POST", "/api/fees/"+fee+"/payments/"+paid.String("payment_id")+"/reverse", object{"reason": "Lostreceipt"}).Want(t, 200)
	coach.Call(t, "POST", "/api/fees/"+fee+"/waive", object{"reason": "Toopoortopay"}).Want(t, 200)
	coach.Call(t, "POST", "/api/messages", object{"to": object{"player_ids": []string{id}}, "audience": "both", "channels": []string{"in_app"}, "text": "Zarathustra Comeslate"}, "Idempotency-Key: third").Want(t, 201)
	eventually(t, "the message arrived", func() bool { return countNotifications(t, guardian, "team_message") == 1 })
	guardian.Call(t, "POST", "/api/me/players/"+id+"/messages", object{"text": "Writestwice, call 98123-99932"}, "Idempotency-Key: fourth").Want(t, 201)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "revoked", "reason": "Toofaraway"}).Want(t, 200)
	return id, guardian
}

// everything returns all rows of all tables, and of SQLite the bytes of its files.
func everything(t *testing.T, s *touchlinetest.Service, db *sql.DB) string {
	t.Helper()
	path, sqlite := strings.CutPrefix(s.Config.DatabaseURL.Reveal(), "sqlite:")
	tables, columns := `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`, `SELECT name FROM pragma_table_info($1)`
	if !sqlite {
		tables = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`
		columns = `SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1`
	}
	texts := func(query string, args ...any) (list []string) {
		rows, err := db.QueryContext(t.Context(), query, args...)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			list = append(list, text)
		}
		return list
	}
	var all strings.Builder
	for _, table := range texts(tables) {
		var values []string
		for _, column := range texts(columns, table) {
			values = append(values, `coalesce(CAST(`+column+` AS TEXT), '')`)
		}
		fmt.Fprintln(&all, table, strings.Join(texts(`SELECT `+strings.Join(values, ` || ' ' || `)+` FROM `+table), "\n"))
	}
	if sqlite {
		for _, name := range []string{path, path + "-wal"} {
			content, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			all.WriteString(name + " ")
			all.Write(bytes.ToValidUTF8(content, []byte("?")))
		}
	}
	return all.String()
}

// wantErased fails if the database still has a value of plantFamily. Limits and counts of a number end after a day, and messages that
// wait for an attempt within that time.
func wantErased(t *testing.T, s *touchlinetest.Service) {
	t.Helper()
	db := openTables(t, s)
	find := func(values []string) (found string) {
		left := everything(t, s, db)
		for _, value := range values {
			if at := strings.Index(left, value); at >= 0 {
				found += fmt.Sprintf("%s: %.300s\n", value, left[max(0, at-150):])
			}
		}
		return found
	}
	numbers := []string{"9812399931", "9812399932"}
	texts := slices.DeleteFunc(slices.Clone(plantedFamily), func(value string) bool { return slices.Contains(numbers, value) })
	if found := find(texts); found != "" {
		t.Error("left at once: " + found)
	}
	s.Clock.Advance(26 * time.Hour)
	found := ""
	for end := time.Now().Add(waitLimit); time.Now().Before(end); {
		if found = find(plantedFamily); found == "" {
			t.Run("pg_dump", func(t *testing.T) { wantNotDumped(t, s, plantedFamily) })
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("left after two days: " + found)
}

// wantNotDumped fails if the output of pg_dump has one of values.
func wantNotDumped(t *testing.T, s *touchlinetest.Service, values []string) {
	t.Helper()
	address := s.Config.DatabaseURL.Reveal()
	if strings.HasPrefix(address, "sqlite:") {
		return
	}
	dump := storetest.Dump(t, address)
	if !strings.Contains(dump, "COPY public.players ") {
		t.Fatalf("pg_dump wrote no table of players: %.300s", dump)
	}
	for _, value := range values {
		if at := strings.Index(dump, value); at >= 0 {
			t.Errorf("pg_dump has %s: %.300s", value, dump[max(0, at-150):])
		}
	}
}

// ledgerOf returns the kinds of the erasures in the file ERASURES, by id.
func ledgerOf(t *testing.T, s *touchlinetest.Service) map[string]string {
	t.Helper()
	content, err := os.ReadFile(s.Config.Erasures)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+Z (player|coach|guardian|student) [0-9a-f-]{36}\n$`).MatchString(line) {
			t.Errorf("ERASURES has the line %q", line)
		}
		fields := strings.Fields(line)
		kinds[fields[2]] = fields[1]
	}
	return kinds
}

// people runs fn as a command of the command line for people.
func people(t *testing.T, s *touchlinetest.Service, fn func(ctx context.Context, by actor.Operator, p *server.People) error) {
	t.Helper()
	s.CLI(t, func(ctx context.Context, by actor.Operator, ops *server.Operators) {
		p, err := ops.People(ctx)
		if err == nil {
			err = fn(ctx, by, p)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestPlayerErasedByOperator: nothing that a family and its coach wrote is left in the rows and files, and ERASURES names
// the player and the accounts.
func TestPlayerErasedByOperator(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		coach := s.Coach(t, coachNumber)
		id, guardian := plantFamily(t, s, coach)
		before := everything(t, s, db)
		for _, value := range []string{"Zarathustra", "2013-07-19", "Xanthippe", "9812399931", "Asksforaday", "Toofaraway", "Writestwice", "Comeslate", "Memberhere", "Limpsheavily", "Paidincash", "Toopoortopay", "Lostreceipt"} {
			if !strings.Contains(before, value) {
				t.Errorf("%s was not planted", value)
			}
		}
		people(t, s, func(ctx context.Context, by actor.Operator, p *server.People) error {
			err := p.ErasePlayer(ctx, id, func(ctx context.Context, tx *store.Tx) error {
				return tx.Record(ctx, by, operator.PlayerErased, "player", id, "Asked by letter")
			})
			if err != nil {
				return err
			}
			return p.Ledger.Append(ctx)
		})
		if kinds := ledgerOf(t, s); kinds[id] != "player" || kinds[guardian.ID] != "guardian" || len(kinds) != 3 {
			t.Errorf("ERASURES has %v", kinds)
		}
		coach.Call(t, "GET", "/api/players/"+id, nil).Want(t, 404)
		if n := countNotifications(t, coach, "player_erased"); n != 1 {
			t.Errorf("the coach has %d notifications of the erasure, want 1", n)
		}
		guardian.Call(t, "GET", "/api/me", nil).Want(t, 401)
		entries := s.Operator(t, operator.Audit).Call(t, "GET", "/api/admin/audit?object_id="+id, nil).Want(t, 200).Items()
		if len(entries) != 1 || entries[0]["action"] != "player.erase" || entries[0]["detail"] != "Asked by letter" {
			t.Errorf("audit log: %v", entries)
		}
		if got := erasureRecords(t, db); got != 2 {
			t.Errorf("%d records of the erasure, want one for each party", got)
		}
		wantErased(t, s)
	}, withLedger)
}

// erasureRecords counts the records of erasures in the log of consents.
func erasureRecords(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT body FROM consent_records`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(body, []byte(`"event_type":"erased"`)) && bytes.Contains(body, []byte(`"previous_state":"removed"`)) {
			n++
		}
	}
	return n
}

// TestPersonErasedByOperator: a number with an account in each role loses all of them, and each is in the audit log.
func TestPersonErasedByOperator(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		other, number := s.Coach(t, coachNumber), "+919812399931"
		id, guardian := plantFamily(t, s, other)
		self := s.Coach(t, number)
		own := self.AddPlayer(t, child(1, "+919812300033")).String("player_id")
		var accounts []string
		people(t, s, func(ctx context.Context, by actor.Operator, p *server.People) error {
			list, err := p.AccountsOf(ctx, phone.Number(number))
			if err != nil {
				return err
			}
			for _, a := range list {
				accounts = append(accounts, string(a.Account.Role))
				if a.Players != 1 {
					t.Errorf("%s: %d players, want 1", a.Account.Role, a.Players)
				}
				var file bytes.Buffer
				if err := p.WriteExport(ctx, a.Account, &file); err != nil || file.Len() == 0 {
					return err
				}
				id := a.Account.AccountID
				err := p.EraseAccount(ctx, id, func(ctx context.Context, tx *store.Tx) error {
					return tx.Record(ctx, by, operator.PersonErased, "account", id, "Asked by letter")
				})
				if err != nil {
					return err
				}
			}
			return p.Ledger.Append(ctx)
		})
		if want := []string{"coach", "guardian"}; !slices.Equal(accounts, want) {
			t.Errorf("accounts %v, want %v", accounts, want)
		}
		if kinds := ledgerOf(t, s); kinds[self.ID] != "coach" || kinds[guardian.ID] != "guardian" || len(kinds) != 2 {
			t.Errorf("ERASURES has %v", kinds)
		}
		self.Call(t, "GET", "/api/me", nil).Want(t, 401)
		guardian.Call(t, "GET", "/api/me", nil).Want(t, 401)
		if a := other.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200); a.JSON["guardian"] != nil {
			t.Errorf("the coach still sees the guardian: %s", a.Body)
		}
		if n := queryOne[int](t, openTables(t, s), `SELECT count(*) FROM accounts WHERE mobile_number = $1`, number); n != 0 {
			t.Error("an account has the number")
		}
		if n := queryOne[int](t, openTables(t, s), `SELECT count(*) FROM players WHERE id = $1 AND deleted_at IS NOT NULL`, own); n != 1 {
			t.Error("the player of the coach was not removed")
		}
		for _, id := range []string{self.ID, guardian.ID} {
			entries := s.Operator(t, operator.Audit).Call(t, "GET", "/api/admin/audit?object_id="+id, nil).Want(t, 200).Items()
			if !slices.ContainsFunc(entries, func(e map[string]any) bool { return e["action"] == "person.erase" }) {
				t.Errorf("audit log: %v", entries)
			}
		}
	}, withLedger)
}

// TestErasedAgainAfterRestore: a replica that starts with a database that is older than ERASURES erases again what the file
// names, before it answers.
func TestErasedAgainAfterRestore(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		coach, leaving, suspended := s.Coach(t, coachNumber), s.Coach(t, "+919812300009"), s.Coach(t, "+919812300010")
		op := s.Operator(t, operator.Coaches)
		op.Call(t, "POST", "/api/admin/coaches/"+suspended.ID+"/suspend", object{"reason": "a complaint"}).Want(t, 200)
		id, first := plantFamily(t, s, coach)
		kept := coach.AddPlayer(t, child(2, guardianNumber)).String("player_id")
		second := s.SignIn(t, "guardian", guardianNumber)
		second.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": kept, "action": "approved"}).Want(t, 200)
		coach.Call(t, "DELETE", "/api/players/"+coach.AddPlayer(t, child(3, guardianNumber)).String("player_id"), nil).Want(t, 204)
		lines := fmt.Sprintf(`2026-03-02T09:15:00.5Z player %s
2026-03-02T09:15:00Z guardian %s
2026-03-02T09:15:00Z coach %s
2026-03-02T09:15:00Z coach %s
2026-03-02T09:15:00Z guardian %s
2026-03-02T09:15:00Z student 00000000-0000-7000-8000-000000000001
2026-03-02T09:15:00Z pla
2026-03-02T09:15:00Z player 0000000`, id, first.ID, leaving.ID, suspended.ID, second.ID)
		for range 2 {
			r := s.Replica(func(c *config.Config) {
				c.Erasures = filepath.Join(t.TempDir(), "ledger")
				if err := os.WriteFile(c.Erasures, []byte(lines), 0o600); err != nil {
					t.Fatal(err)
				}
			})
			if !strings.Contains(r.Log.String(), `"lines":[7,8]`) {
				t.Error("the log does not name the lines that cannot be read")
			}
			for _, u := range []*touchlinetest.User{first, second, leaving} {
				u.On(r).Call(t, "GET", "/api/me", nil).Want(t, 401)
			}
			content, err := os.ReadFile(r.Config.Erasures)
			if err != nil || !strings.HasPrefix(string(content), lines+"\n") {
				t.Errorf("ERASURES: %v: %s", err, content)
			}
		}
		coach.Call(t, "GET", "/api/players/"+id, nil).Want(t, 404)
		if a := coach.Call(t, "GET", "/api/players/approval-status/"+kept, nil).Want(t, 200); a.String("guardian_status") != "pending" {
			t.Errorf("status %s", a.Body)
		}
		if n := queryOne[int](t, db, `SELECT count(*) FROM accounts WHERE id = $1 AND closed_at IS NOT NULL AND suspended_at IS NULL`, suspended.ID); n != 1 {
			t.Error("the account that was suspended in the older copy was not erased")
		}
		if n := countNotifications(t, coach, "guardian_revoked"); n != 1 {
			t.Errorf("the coach has %d notifications of the guardian who left, want 1", n)
		}
		if n := queryOne[int](t, db, `SELECT count(*) FROM erasures WHERE object_id = '00000000-0000-7000-8000-000000000001'`); n != 1 {
			t.Error("the start compares an unknown account each time")
		}
		wantErased(t, s)
	})
}

// TestRepeatAfterErasure: the coach repeats a call with its Idempotency-Key after an operator erased the player. The response has no value
// of the player, and the work is not done again.
func TestRepeatAfterErasure(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		body := touchlinetest.Minor(guardianNumber, "")
		body["student"].(object)["full_name"] = "Zarathustra Rao"
		id := coach.AddPlayer(t, body).String("player_id")
		batch := addBatch(t, coach, "Morning")
		coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+id, nil).Want(t, 204)
		today := s.Clock.Now().Format(time.DateOnly)
		var fee string
		calls := []func() *touchlinetest.Response{
			func() *touchlinetest.Response {
				return coach.Call(t, "POST", "/api/fees", object{"player_id": id, "title": "Kit", "amount": 500, "due_on": today}, "Idempotency-Key: fee").Want(t, 201)
			},
			func() *touchlinetest.Response {
				return coach.Call(t, "POST", "/api/fees/"+fee+"/payments", object{"amount": 1, "method": "cash", "paid_on": today, "note": "Paidincash"}, "Idempotency-Key: payment").Want(t, 201)
			},
			func() *touchlinetest.Response {
				training := object{"date": s.Clock.Now().AddDate(0, 0, 3).Format(time.DateOnly), "start": "09:00", "end": "10:00", "kind": "match"}
				return coach.Call(t, "POST", "/api/batches/"+batch+"/trainings", training, "Idempotency-Key: training").Want(t, 201)
			},
		}
		for _, call := range calls {
			first := call()
			if fee == "" {
				fee = first.String("fee_id")
			}
			if !strings.Contains(string(first.Body), "Zarathustra") && !strings.Contains(string(first.Body), "Paidincash") {
				t.Errorf("the first response names no one: %s", first.Body)
			}
		}
		people(t, s, func(ctx context.Context, _ actor.Operator, p *server.People) error {
			return p.ErasePlayer(ctx, id, nil)
		})
		for _, call := range calls {
			again := call()
			for _, value := range []string{"Zarathustra", "Paidincash"} {
				if strings.Contains(string(again.Body), value) {
					t.Errorf("after the erasure a repeated call says %s: %s", value, again.Body)
				}
			}
			if again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("the work was done again: %s", again.Body)
			}
		}
	})
}
