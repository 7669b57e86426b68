package e2e_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestMetrics: the main actions are counted, without numbers or names.
func TestMetrics(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		scraper := s.Operator(t, operator.Metrics)
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		s.SMS(guardianNumber, "message", 0) // a decision would drop it
		guardian := s.SignIn(t, "guardian", guardianNumber)
		decideAsGuardian(t, guardian, player, "approved")
		decideAsGuardian(t, guardian, player, "approved") // repeats the decision and changes nothing
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": "000000"}).Want(t, 410)
		s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": coach.Refresh}).Want(t, 200)
		guardian.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		s.Call(t, "GET", "/nowhere/"+coach.ID, "", nil).Want(t, 404)

		var text string
		eventually(t, "the sent messages are counted", func() bool {
			text = string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body)
			return strings.Contains(text, `touchline_deliveries_total{channel="sms",kind="request",outcome="sent"} 1`) &&
				strings.Contains(text, `touchline_deliveries_total{channel="sms",kind="otp",outcome="sent"} 2`)
		})
		for _, want := range []string{
			`touchline_http_requests_total{listener="public",method="POST",route="/api/players/add",status="201"} 1`,
			`touchline_http_requests_total{listener="public",method="GET",route="",status="404"} 1`,
			`touchline_otp_total{outcome="issued"} 2`,
			`touchline_otp_total{outcome="correct"} 2`,
			`touchline_otp_total{outcome="no_challenge"} 1`,
			`touchline_sessions_total{event="opened"} 2`,
			`touchline_sessions_total{event="refreshed"} 1`,
			`touchline_sessions_total{event="ended"} 1`,
			`touchline_decisions_total{action="approved",party="guardian"} 1`,
			`touchline_database_up 1`,
			`touchline_database_errors_total 0`,
			`touchline_outbox_waiting{channel="sms",kind="request"} 0`,
			`touchline_build_info{goversion="go1.`,
			`touchline_database_connections_limit{pool="`, `touchline_database_wait_seconds_total{pool="`,
			`touchline_job_runs_total{name="number records",outcome="ok"} `, `touchline_job_success_timestamp_seconds{name="sweep"} `,
			`touchline_file_store_operations_total{operation="put",outcome="failed"} 0`,
			`touchline_http_connections_limit{listener="public"} 6000`, `touchline_streams_limit 4000`,
			`go_memstats_`, `process_resident_memory_bytes`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("metric missing: %s", want)
			}
		}
		for _, private := range []string{coachNumber[1:], guardianNumber[1:], coach.ID, player, "Meera", "Rao"} {
			if strings.Contains(text, private) {
				t.Errorf("metrics contain %s", private)
			}
		}
		if ids := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7`).FindString(text); ids != "" {
			t.Errorf("metrics contain an identifier: %s", ids)
		}
	})
}

// TestAccountMetrics: OTPs that change a number or close an account are counted,
// and so are the sessions ended.
func TestAccountMetrics(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		scraper := s.Operator(t, operator.Metrics)
		s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(61 * time.Second)
		coach := s.SignIn(t, "coach", coachNumber)
		otp, newOTP := requestCoachOTP(t, s, coachNumber), requestCoachOTP(t, s, newNumber)
		coach.Call(t, "POST", "/auth/change-number", changeNumberBody(wrongOTP(otp, 0), newNumber, newOTP)).Want(t, 422, "otp_incorrect")
		coach.Call(t, "POST", "/auth/change-number", changeNumberBody(otp, newNumber, wrongOTP(newOTP, 0))).Want(t, 422, "otp_incorrect")
		coach.Call(t, "POST", "/auth/change-number", changeNumberBody(otp, newNumber, newOTP)).Want(t, 200)
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": "123456"}).Want(t, 410, "otp_expired")
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": requestCoachOTP(t, s, newNumber)}).Want(t, 204)
		text := string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body)
		for _, want := range []string{
			`touchline_otp_total{outcome="issued"} 5`,
			`touchline_otp_total{outcome="incorrect"} 2`,
			`touchline_otp_total{outcome="correct"} 6`, // the old number's code counts twice: a wrong one does not use it up
			`touchline_otp_total{outcome="no_challenge"} 1`,
			`touchline_sessions_total{event="opened"} 2`,
			`touchline_sessions_total{event="ended"} 1`,
			`touchline_sessions_total{event="ended_all"} 1`,
		} {
			if !strings.Contains(text, want+"\n") {
				t.Errorf("metric missing: %s", want)
			}
		}
	})
}

// TestMetricsWithoutDatabase: while the database is unavailable or hangs, /metrics responds
// within the 10 s that Prometheus waits, and touchline_database_up is 0.
func TestMetricsWithoutDatabase(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	pg := newProxy(t, address)
	s := touchlinetest.New(t, pg.url(), touchlinetest.ManyConnections) // a request that waits for the lock holds one
	scraper, auditor := s.Operator(t, operator.Metrics), s.Operator(t, operator.Audit)
	unused := s.Operator(t, operator.Metrics)
	scrape := func(up string) {
		t.Helper()
		start := time.Now()
		text := string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body)
		if took := time.Since(start); took > 9*time.Second {
			t.Errorf("the scrape took %s", took)
		}
		if !strings.Contains(text, "touchline_database_up "+up+"\n") {
			t.Errorf("want touchline_database_up %s in\n%s", up, text)
		}
	}
	scrape("1")
	auditor.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200)

	lock, err := openSQL(t, address).Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec("LOCK TABLE operator_tokens IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	scrape("1")
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}

	pg.close()
	for range 3 {
		scrape("0")
	}
	auditor.Call(t, "GET", "/metrics", nil).Want(t, 503, "unavailable") // only a token that has scraped is known
	unused.Call(t, "GET", "/metrics", nil).Want(t, 503, "unavailable")
	scraper.Call(t, "GET", "/api/admin/audit", nil).Want(t, 503, "unavailable")

	pg.open()
	eventually(t, "the database is up again", func() bool {
		return strings.Contains(string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body), "touchline_database_up 1\n")
	})
}

// TestMetricsOfReadOnlyDatabase: touchline_database_up is 0 while the database serves reads
// but takes no writes.
func TestMetricsOfReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	s := touchlinetest.New(t, address)
	scraper := s.Operator(t, operator.Metrics)
	up := func(want string) func() bool {
		return func() bool {
			return strings.Contains(string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body), "touchline_database_up "+want+"\n")
		}
	}
	if !up("1")() {
		t.Fatal("touchline_database_up is not 1")
	}
	admin := openSQL(t, address)
	readOnly := func(value string) {
		t.Helper()
		for _, statement := range []string{
			`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ` + value + `', current_database()); END $$`,
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
		} {
			if _, err := admin.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	readOnly("on")
	eventually(t, "the metrics show a database without writes", up("0"))
	never(t, s, "the metrics show a database with writes", quietPeriod, up("1"))
	if _, err := admin.Exec(`SET default_transaction_read_only = off`); err != nil {
		t.Fatal(err)
	}
	readOnly("off")
	eventually(t, "the metrics show a database with writes", up("1"))
}
