package e2e_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// lockCoaches stops every change of a coach until release is called.
func lockCoaches(t *testing.T, s *touchlinetest.Service) (release func()) {
	t.Helper()
	db := openTables(t, s)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	statements := []string{"BEGIN IMMEDIATE"}
	if admin, _ := postgresAdmin(t, s); admin != nil {
		statements = []string{"BEGIN", "LOCK TABLE coaches IN ACCESS EXCLUSIVE MODE"}
	}
	exec := func(conn *sql.Conn, statement string) {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	for _, statement := range statements {
		exec(conn, statement)
	}
	release = sync.OnceFunc(func() {
		exec(conn, "ROLLBACK")
		_ = conn.Close()
	})
	t.Cleanup(release)
	return release
}

// TestOverloaded: while as many writes as MAX_IN_FLIGHT allows are handled, others are
// refused at once, except calls of operators. A decision and a sign-out wait instead.
// Reads are served.
func TestOverloaded(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		scraper := s.Operator(t, operator.Metrics)
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)

		// The first page prepares all templates. That may take longer than the lock may last.
		s.Call(t, "GET", "/docs", "", nil).Want(t, 200)
		s.Call(t, "GET", "/sign-in/coach", "", nil).Want(t, 200)

		release := lockCoaches(t, s)
		var calls sync.WaitGroup
		call := func(p *touchlinetest.User, want int, method, path string, body any) {
			calls.Go(func() {
				a, err := s.Do(context.Background(), method, path, p.Access, body)
				if err != nil || a.Status != want {
					t.Errorf("%s %s: got %v, %v; want %d", method, path, a, err, want)
				}
			})
		}
		calls.Go(func() {
			for {
				a, err := s.Do(context.Background(), "PATCH", "/api/coach/profile", coach.Access, map[string]any{"bio": "Football."})
				if err == nil && a.Status == 503 && a.String("code") == "overloaded" {
					continue // a call below was faster
				}
				if err != nil || a.Status != 200 {
					t.Errorf("PATCH: got %v, %v; want 200", a, err)
				}
				return
			}
		})
		eventually(t, "the change of the profile is in flight", func() bool {
			return s.Call(t, "POST", "/auth/request-otp", "", map[string]any{}).Status == 503
		})
		time.Sleep(100 * time.Millisecond) // its body is read by then, mostly; the test holds for both orders
		for _, path := range []string{"/api/players/add", "/api/approval/send-reminder", "/auth/verify-otp"} {
			start := time.Now()
			refused := s.Call(t, "POST", path, "not a token", map[string]any{}).Want(t, 503, "overloaded")
			if took := time.Since(start); refused.Header.Get("Retry-After") == "" || took > promptly {
				t.Errorf("%s: got %v after %s, want Retry-After at once", path, refused.Header, took)
			}
		}
		s.Call(t, "GET", "/docs", "", nil).Want(t, 200)
		s.Call(t, "GET", "/.well-known/jwks.json", "", nil).Want(t, 200)
		if page := s.Call(t, "POST", "/sign-in/coach", "", nil).Want(t, 503); !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") || page.Header.Get("Retry-After") == "" {
			t.Errorf("a form: got %v, want a page with Retry-After", page.Header)
		}
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": otherNumber}).Want(t, 503, "overloaded")
		s.Call(t, "DELETE", "/api/coaches", "", nil).Want(t, 405)
		s.Call(t, "GET", "/healthz", "", nil).Want(t, 200)
		s.AdminCall(t, "GET", "/healthz", "", nil).Want(t, 200)

		call(guardian, 200, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved"})
		call(coach, 204, "POST", "/auth/logout", nil)
		time.Sleep(100 * time.Millisecond) // both wait by then, mostly; the test holds for both orders
		release()
		calls.Wait()
		guardian.Call(t, "GET", "/api/me", nil).Want(t, 200)
		coach.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
		text := string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body)
		for _, want := range []string{
			`touchline_http_in_flight{kind="write"} 0`, `touchline_http_in_flight_waiting{kind="write"} 0`, `touchline_http_in_flight_limit{kind="read"} 1`,
			`touchline_http_connections{listener="public"} `, "\ntouchline_streams 0\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the metrics have no %q", want)
			}
		}
		for line := range strings.Lines(s.Log.String()) {
			if strings.Contains(line, `"level":"ERROR"`) {
				t.Errorf("a refused request is logged as a bug: %s", line)
			}
		}
		if strings.Contains(text, `touchline_http_overloaded_total{kind="write"} 0`) {
			t.Error("refused requests are not counted")
		}
	}, func(c *config.Config) { c.MaxInFlight = "1" }, touchlinetest.ManyConnections)
}

// TestConnectionLimit: at MAX_CONNECTIONS a new connection closes the connection that has been idle for
// the longest time; the operators' listener has a separate limit.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) {
		c.MaxConnections = 3
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} // without the limit of an address
	})
	get := func(conn net.Conn) (status int) {
		fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(waitLimit))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	var open []net.Conn
	for i := range 4 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		open = append(open, conn)
		if status := get(conn); status != 200 {
			t.Errorf("connection %d: got %d, want 200", i+1, status)
		}
	}
	// A connection is idle a moment after its response has arrived, so any of the first three may be idle for the longest time.
	ended := 0
	for i, conn := range open {
		switch status := get(conn); {
		case status == 0 && i < 3:
			ended++
		case status != 200:
			t.Errorf("connection %d: got %d, want 200", i+1, status)
		}
	}
	if ended != 1 {
		t.Errorf("%d of the first three connections were closed, want 1", ended)
	}
	s.AdminCall(t, "GET", "/readyz", "", nil).Want(t, 200)
}
