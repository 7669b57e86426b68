package e2e_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// keyedCall is a POST with an Idempotency-Key.
type keyedCall struct {
	name string
	do   func(header string) *touchlinetest.Response
}

// keyedCalls returns every POST that takes a key, in an order in which each succeeds.
func keyedCalls(t *testing.T, s *touchlinetest.Service) []keyedCall {
	const student = "+919812300055"
	s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber}).Want(t, 202)
	login := object{"mobile_number": coachNumber, "otp": s.OTP(coachNumber, 0)}
	today := s.Clock.Now().Format(time.DateOnly) // a repeated call has the same body
	var coach, guardian *touchlinetest.User
	var player, request, document, fee, payment, batch string
	var change object
	post := func(u **touchlinetest.User, path string, body func() any) func(string) *touchlinetest.Response {
		return func(header string) *touchlinetest.Response { return (*u).Call(t, "POST", path, body(), header) }
	}
	nothing := func() any { return nil }
	return []keyedCall{
		{"login", func(header string) *touchlinetest.Response {
			return s.Call(t, "POST", "/auth/login", "", login, header)
		}},
		{"add player", func(header string) *touchlinetest.Response {
			if coach == nil {
				s.Clock.Advance(time.Minute)
				coach = s.Coach(t, coachNumber)
			}
			added := coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, ""), header)
			if added.Status == 201 {
				player, request = added.String("player_id"), added.String("guardian_request_id")
			}
			return added
		}},
		{"send student request", post(&coach, "/api/approval/send-student-request", func() any {
			return object{"player_id": player, "student": object{"contact_number": student}}
		})},
		{"send reminder", post(&coach, "/api/approval/send-reminder", func() any { return object{"player_id": player, "approver_type": "guardian"} })},
		{"follow up", func(header string) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/approval/requests/"+request+"/follow-up", object{"note": "Called the father."}, header)
		}},
		{"cancel", func(header string) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/approval/requests/"+request+"/cancel", nil, header)
		}},
		{"send guardian request", func(header string) *touchlinetest.Response {
			sent := coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": player}, header)
			if sent.Status < 300 {
				request = sent.String("request_id")
			}
			return sent
		}},
		{"dispute", func(header string) *touchlinetest.Response {
			if guardian == nil {
				guardian = s.SignIn(t, "guardian", guardianNumber)
			}
			return post(&guardian, "/api/approval/requests/"+request+"/dispute", nothing)(header)
		}},
		{"add document", func(header string) *touchlinetest.Response {
			form, contentType := touchlinetest.Form(map[string]string{"kind": "identity"}, "passport.pdf", touchlinetest.PDF(500, 1))
			added := coach.Call(t, "POST", "/api/coach/documents", form, contentType, header)
			if added.Status == 201 {
				document = added.String("document_id")
			}
			return added
		}},
		{"submit KYC", post(&coach, "/api/coach/kyc", func() any { return object{"legal_name": "Asha Rao", "document_ids": []string{document}} })},
		{"import players", func(header string) *touchlinetest.Response {
			s.CLI(t, func(ctx context.Context, by actor.Operator, ops *server.Operators) {
				if _, err := ops.Subscriptions.Set(ctx, by, coach.ID, "pro"); err != nil {
					t.Fatal(err)
				}
			})
			return coach.Call(t, "POST", "/api/players/import", "name,dob\nBela Rao,1990-01-31\n", csvType, header)
		}},
		{"add fee", func(header string) *touchlinetest.Response {
			added := coach.Call(t, "POST", "/api/fees", object{"player_id": player, "title": "Training", "amount": 1000, "due_on": today}, header)
			if added.Status == 201 {
				fee = added.String("fee_id")
			}
			return added
		}},
		{"add fees of a batch", func(header string) *touchlinetest.Response {
			if batch == "" {
				batch = addBatch(t, coach, "Juniors")
				coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(t, 204)
			}
			return coach.Call(t, "POST", "/api/fees", object{"batch_id": batch, "title": "Kit", "amount": 10, "due_on": today}, header)
		}},
		{"remind of a fee", func(header string) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/fees/"+fee+"/remind", nil, header)
		}},
		{"note payment", func(header string) *touchlinetest.Response {
			paid := coach.Call(t, "POST", "/api/fees/"+fee+"/payments", object{"amount": 10, "method": "cash", "paid_on": today}, header)
			if paid.Status == 201 {
				payment = paid.String("payment_id")
			}
			return paid
		}},
		{"reverse payment", func(header string) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/fees/"+fee+"/payments/"+payment+"/reverse", object{"reason": "Twice."}, header)
		}},
		{"waive fee", func(header string) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/fees/"+fee+"/waive", object{"reason": "A sibling pays."}, header)
		}},
		{"change number", func(header string) *touchlinetest.Response {
			if change == nil {
				change = changeNumberBody(requestCoachOTP(t, s, coachNumber), newNumber, requestCoachOTP(t, s, newNumber))
			}
			return coach.Call(t, "POST", "/auth/change-number", change, header)
		}},
	}
}

// checkRebuilt compares two responses to the same work. Times and deliveries may differ:
// a rebuilt response shows their current state.
func checkRebuilt(t *testing.T, first, again *touchlinetest.Response) {
	t.Helper()
	ignored := cmp.FilterPath(func(p cmp.Path) bool {
		key, ok := p.Last().(cmp.MapIndex)
		if !ok {
			return false
		}
		switch key.Key().String() {
		case "deliveries", "told", "access_token", "refresh_expires_in", "next", "profile_complete":
			return true
		}
		return false
	}, cmp.Ignore())
	if diff := cmp.Diff(first.JSON, again.JSON, ignored); diff != "" || first.Status != again.Status || first.Header.Get("Location") != again.Header.Get("Location") {
		t.Fatalf("rebuilt response differs: status %d and %d, %s", first.Status, again.Status, diff)
	}
}

// effects counts what the keyed calls write.
func effects(t *testing.T, db *sql.DB) string {
	t.Helper()
	var out bytes.Buffer
	for _, table := range []string{"players", "requests", "reminders", "deliveries", "documents", "kyc_submissions", "sessions", "disputes", "imports", "fees", "fee_payments", "notifications"} {
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %d, ", table, n)
	}
	return out.String()
}

// TestRepeatAfterCrash: the service ends after the commit of the work and before its
// response is stored. The repeat gets the response and does nothing.
func TestRepeatAfterCrash(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		for _, call := range keyedCalls(t, s) {
			first := call.do("Idempotency-Key: " + call.name)
			if first.Status >= 300 {
				t.Fatalf("%s: got %d %s", call.name, first.Status, first.Body)
			}
			before := effects(t, db)
			res, err := db.Exec(`UPDATE kept_answers SET status = 1, answer = NULL WHERE key = $1 AND status = $2`, call.name, first.Status)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := res.RowsAffected(); n != 1 || err != nil {
				t.Fatalf("%s: removed %d responses, %v", call.name, n, err)
			}
			checkRebuilt(t, first, call.do("Idempotency-Key: "+call.name))
			stored := call.do("Idempotency-Key: " + call.name)
			checkRebuilt(t, first, stored)
			if first.Header.Get("Idempotent-Replayed") != "" || stored.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s: Idempotent-Replayed is %q and %q", call.name, first.Header.Get("Idempotent-Replayed"), stored.Header.Get("Idempotent-Replayed"))
			}
			if after := effects(t, db); after != before {
				t.Fatalf("%s: got %s after the repeat, want %s", call.name, after, before)
			}
		}
	}, enableKYC)
}

// TestLostCommit: the response of PostgreSQL to the COMMIT of the work is lost. The first
// call gets the response, or 503 and then its repeat gets it; the work is done once.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	s, db, lost := losingCommits(t, `AFTER UPDATE ON kept_answers FOR EACH ROW WHEN (OLD.status = 0 AND NEW.status = 1)`)
	for _, call := range keyedCalls(t, s) {
		before := lost.Load()
		var first *touchlinetest.Response
		for end := time.Now().Add(waitLimit); time.Now().Before(end); {
			if first = call.do("Idempotency-Key: " + call.name); first.Status < 500 && first.Code() != "request_in_progress" {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if first.Status >= 300 {
			t.Fatalf("%s: got %d %s", call.name, first.Status, first.Body)
		}
		if n := lost.Load() - before; n != 1 {
			t.Errorf("%s: lost %d commits, want 1", call.name, n)
		}
	}
	want := `players 1, requests 3, reminders 1, documents 1, kyc_submissions 1, disputes 1, imports 1, fees 2, fee_payments 1, `
	var got string
	for _, table := range []string{"players", "requests", "reminders", "documents", "kyc_submissions", "disputes", "imports", "fees", "fee_payments"} {
		var n int
		if err := db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintf("%s %d, ", table, n)
	}
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestLostClaim: the response of PostgreSQL to the COMMIT of the claim is lost. The key is
// free after some seconds.
func TestLostClaim(t *testing.T) {
	t.Parallel()
	s, _, lost := losingCommits(t, `AFTER INSERT ON kept_answers FOR EACH ROW`)
	coach := s.Coach(t, coachNumber)
	add := func() *touchlinetest.Response {
		return coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, ""), "Idempotency-Key: k")
	}
	add().Want(t, 503, "unavailable")
	start := time.Now()
	for add().Status != 201 {
		if time.Since(start) > waitLimit {
			t.Fatalf("the key is not free after %s", waitLimit)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if n := lost.Load(); n != 1 {
		t.Errorf("lost %d commits, want 1", n)
	}
}

// losingCommits starts a service on PostgreSQL that never gets the response to the COMMIT
// of a transaction that fires the trigger. It counts the lost responses.
func losingCommits(t *testing.T, trigger string) (*touchlinetest.Service, *sql.DB, *atomic.Int64) {
	t.Helper()
	url, lost := storetest.Postgres(t), new(atomic.Int64)
	s := touchlinetest.New(t, storetest.Relay(t, url, func(client, server net.Conn) {
		go storetest.Copy(server, client, func() {})
		go loseCommit(client, server, lost)
	}), enableKYC)
	db := openSQL(t, url)
	// The notice marks the connection whose next COMMIT gets lost.
	execSQL(t, db, `CREATE FUNCTION notice_keyed_work() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'keyed work'; RETURN NEW; END $$`)
	execSQL(t, db, `CREATE TRIGGER notice_keyed_work `+trigger+` EXECUTE FUNCTION notice_keyed_work()`)
	return s, db, lost
}

// loseCommit copies from the server to the client. It closes both instead of passing on
// the response to the COMMIT that follows the notice.
func loseCommit(client, server net.Conn, lost *atomic.Int64) {
	defer client.Close()
	defer server.Close()
	buffer := make([]byte, 64<<10)
	noticed := false
	for {
		n, err := server.Read(buffer)
		noticed = noticed || bytes.Contains(buffer[:n], []byte("keyed work"))
		if noticed && bytes.Contains(buffer[:n], []byte("COMMIT\x00")) {
			lost.Add(1)
			return
		}
		if n > 0 {
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// TestKeyOfRemovedPlayer: the call that added a player returns 404 after the player was removed. It
// does not add the player again.
func TestKeyOfRemovedPlayer(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	add := func() *touchlinetest.Response {
		return coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, ""), "Idempotency-Key: add-1")
	}
	id := add().Want(t, 201).String("player_id")
	if again := add().Want(t, 201).String("player_id"); again != id {
		t.Errorf("the same key added %s, then %s", id, again)
	}
	coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204)
	add().Want(t, 404, "not_found")
	if left := coach.Call(t, "GET", "/api/players", nil).Items(); len(left) != 0 {
		t.Errorf("the call of the removed player added %v", left)
	}
}

// TestKeyOfDeadRequest: a key whose first request died before the commit is free within
// 5 s, and the dead request can no longer commit.
func TestKeyOfDeadRequest(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		db, coach := openTables(t, s), s.Coach(t, coachNumber)
		first := coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, ""), "Idempotency-Key: k").Want(t, 201)
		coach.Call(t, "DELETE", first.Header.Get("Location"), nil).Want(t, 204)
		end := s.Clock.Now().Add(3 * time.Second).UnixMicro()
		if _, err := db.Exec(`UPDATE kept_answers SET status = 0, answer = NULL, work = NULL, lease_ends_at = $1`, end); err != nil {
			t.Fatal(err)
		}
		coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, ""), "Idempotency-Key: k").Want(t, 409, "request_in_progress")
		s.Clock.Advance(5 * time.Second)
		coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, ""), "Idempotency-Key: k").Want(t, 201)
	})
}

// TestLoginKeyIsNoOracle: a repeat of a login with another OTP counts as a wrong code.
// After too many, every repeat with the key is refused.
func TestLoginKeyIsNoOracle(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, 0)
		login := func(otp, device string) *touchlinetest.Response {
			a, err := s.Do(context.Background(), "POST", "/auth/login", "", object{"mobile_number": coachNumber, "otp": otp, "device_name": device}, "Idempotency-Key: k")
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		login(otp, "phone").Want(t, 200)
		login(otp, "other phone").Want(t, 422, "idempotency_key_reused")
		login(otp, "phone").Want(t, 200)
		var evaluated atomic.Int64
		attempt := func(i int) func() (*touchlinetest.Response, error) {
			return func() (*touchlinetest.Response, error) {
				a := login(wrongOTP(otp, i), "phone")
				if a.Code() == "idempotency_key_reused" {
					evaluated.Add(1)
				}
				return a, nil
			}
		}
		var attempts []func() (*touchlinetest.Response, error)
		for i := range 40 {
			attempts = append(attempts, attempt(i))
		}
		for _, a := range concurrently(t, attempts...) {
			if a.Status != 422 && a.Status != 429 {
				t.Errorf("attempt: got %d %s", a.Status, a.Body)
			}
		}
		if n := evaluated.Load(); n != 4 {
			t.Errorf("%d attempts were evaluated after one, want 4", n)
		}
		login(otp, "phone").Want(t, 429, "otp_attempts_exceeded")
		login(wrongOTP(otp, 1), "phone").Want(t, 429, "otp_attempts_exceeded")
	}, touchlinetest.ManyConnections)
}

// TestRepeatOfFailedLogin: the repeat of the last wrong code gets its response again, and
// counts no more.
func TestRepeatOfFailedLogin(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, 0)
		for i := range 5 {
			key := fmt.Sprint("Idempotency-Key: ", i)
			body := object{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}
			first := s.Call(t, "POST", "/auth/login", "", body, key).Want(t, 422, "otp_incorrect")
			execSQL(t, db, `UPDATE kept_answers SET status = 1, answer = NULL WHERE key = $1`, fmt.Sprint(i))
			again := s.Call(t, "POST", "/auth/login", "", body, key).Want(t, 422, "otp_incorrect")
			if want := fmt.Sprint(4 - i); first.String("attempts_left") != want || again.String("attempts_left") != want {
				t.Errorf("attempt %d: got %s and %s, want %s attempts left", i, first.Body, again.Body, want)
			}
		}
		s.Call(t, "POST", "/auth/login", "", object{"mobile_number": coachNumber, "otp": otp}, "Idempotency-Key: right").Want(t, 429, "otp_attempts_exceeded")
	})
}
