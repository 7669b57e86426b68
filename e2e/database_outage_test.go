package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestDatabaseUnavailable: during an outage of PostgreSQL every call returns 503
// with Retry-After and changes nothing. Service resumes without a restart.
func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	pg := newProxy(t, address)
	s := touchlinetest.New(t, pg.url())
	coach := s.Coach(t, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
	id, link := player.String("player_id"), linkPath(t, s, guardianNumber, 0)
	s.SMS(studentNumber, "message", 0)
	guardian := s.SignIn(t, "guardian", guardianNumber)
	desk := s.Operator(t, operator.Coaches, operator.Introspect)
	f := openStream(t, coach, "")
	s.Call(t, "GET", "/readyz", "", nil).Want(t, 200)

	// A call with a key waits for a row when the outage begins.
	unlock := lockAccount(t, address, coach.ID)
	waiting := make(chan *touchlinetest.Response, 1)
	go func() {
		waiting <- s.Call(t, "POST", "/api/players/add", coach.Access, child(8, otherNumber), "Idempotency-Key: waits")
	}()
	admin := openSQL(t, address)
	eventually(t, "the call waits for the row", func() bool {
		return queryOne[int](t, admin, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	pg.close()
	unlock()
	(<-waiting).Want(t, 503, "unavailable")
	f.ends(15 * time.Second)
	calls := []struct {
		method, path string
		by           *touchlinetest.User
		body         any
	}{
		{"GET", "/api/me", coach, nil},
		{"GET", "/api/players", coach, nil},
		{"GET", "/api/players/" + id, guardian, nil},
		{"GET", "/api/players/approval-status/" + id, coach, nil},
		{"GET", "/api/services/availability/" + id, guardian, nil},
		{"GET", "/api/coach/pending-approvals", coach, nil},
		{"GET", "/api/coach/profile", coach, nil},
		{"GET", "/api/notifications", coach, nil},
		{"GET", "/api/notifications/stream", coach, nil},
		{"GET", "/auth/sessions", coach, nil},
		{"GET", "/api/approval/requests/" + player.String("guardian_request_id"), coach, nil},
		{"PATCH", "/api/coach/profile", coach, map[string]any{"name": "Half Done"}},
		{"POST", "/api/players/add", coach, child(9, otherNumber)},
		{"GET", "/api/me", guardian, nil},
		{"POST", "/api/approval/send-reminder", coach, map[string]any{"player_id": id, "approver_type": "guardian"}},
		{"POST", "/api/approval/send-guardian-request", coach, map[string]any{"player_id": id}},
		{"POST", "/api/notifications/read", coach, map[string]any{"all": true}},
		{"PUT", "/api/approval/guardian-response", guardian, map[string]any{"player_id": id, "action": "approved"}},
		{"DELETE", "/api/players/" + id, coach, nil},
		{"POST", "/auth/logout", coach, nil},
		{"POST", "/auth/request-otp", nil, map[string]any{"mobile_number": otherNumber}},
		{"POST", "/auth/verify-otp", nil, map[string]any{"mobile_number": otherNumber, "otp": "123456"}},
		{"POST", "/auth/login", nil, map[string]any{"mobile_number": otherNumber, "otp": "123456"}},
		{"POST", "/auth/refresh", nil, map[string]any{"refresh_token": coach.Refresh}},
	}
	for _, c := range calls {
		token := ""
		if c.by != nil {
			token = c.by.Access
		}
		start := time.Now()
		a := s.Call(t, c.method, c.path, token, c.body)
		if a.Status != 503 || a.Code() != "unavailable" {
			t.Errorf("%s %s: got %d %s", c.method, c.path, a.Status, a.Body)
		}
		if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || n < 1 {
			t.Errorf("%s %s: got Retry-After %q", c.method, c.path, a.Header.Get("Retry-After"))
		}
		if took := time.Since(start); took > 30*time.Second { // a read or write has 10 s
			t.Errorf("%s %s took %s", c.method, c.path, took)
		}
	}
	page, err := http.Get(s.URL + link) // responds with a page instead of a problem document
	if err != nil {
		t.Fatal(err)
	}
	if _ = page.Body.Close(); page.StatusCode != 503 || page.Header.Get("Retry-After") == "" {
		t.Errorf("link page: got status %d, Retry-After %q", page.StatusCode, page.Header.Get("Retry-After"))
	}
	s.AdminCall(t, "GET", "/api/admin/tier-requests", desk.Token, nil).Want(t, 503, "unavailable")
	s.AdminCall(t, "POST", "/auth/introspect", desk.Token, url.Values{"token": {coach.Access}}).Want(t, 503, "unavailable")
	coach.Upload(t, "identity", "a.pdf", touchlinetest.PDF(300, 1)).Want(t, 503, "unavailable")
	s.Call(t, "GET", "/readyz", "", nil).Want(t, 503)
	s.Call(t, "GET", "/healthz", "", nil).Want(t, 200)

	pg.open()
	eventually(t, "the service is ready again", func() bool { return s.Call(t, "GET", "/readyz", "", nil).Status == 200 })
	if items := coach.Call(t, "GET", "/api/players", nil).Want(t, 200).Items(); len(items) != 1 || items[0]["guardian_status"] != "pending" {
		t.Errorf("partial change during the outage: got %v", items)
	}
	if profile := coach.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200); profile.String("name") != "Meera Nair" {
		t.Errorf("partial change during the outage: got %s", profile.Body)
	}
	if n := s.Sent(guardianNumber, "message"); n != 1 {
		t.Errorf("got %d messages, want 1", n)
	}
	f = openStream(t, coach, "")
	decideAsGuardian(t, guardian, id, "approved")
	f.next(waitLimit)
	coach.AddPlayer(t, child(9, otherNumber))
	s.SMS(otherNumber, "message", 0)
	refresh(t, s, coach.Refresh).Want(t, 200)

	// Broken connections are invisible to clients.
	kill := func() {
		execSQL(t, admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	}
	for i := range 5 {
		kill()
		coach.Call(t, "GET", "/api/me", nil).Want(t, 200)
		kill()
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": fmt.Sprintf("+9198127%05d", i)}).Want(t, 202)
	}
	wantNoErrorLines(t, s)
}

// lockAccount locks the row of an account, so that writes that name it wait until unlock is called.
func lockAccount(t *testing.T, address, id string) (unlock func()) {
	t.Helper()
	tx, err := openSQL(t, address).Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE`, id); err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback() }
}

// wantNoErrorLines fails if the log has a line at error, which means a bug.
func wantNoErrorLines(t *testing.T, s *touchlinetest.Service) {
	t.Helper()
	for line := range strings.Lines(s.Log.String()) {
		if strings.Contains(line, `"level":"ERROR"`) {
			t.Errorf("the log has %s", line)
		}
	}
}

// proxy forwards connections to PostgreSQL until it is closed.
type proxy struct {
	*testing.T
	socket, network, to string
	query               *url.URL

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
}

// newProxy opens a proxy to the server of the database at address.
func newProxy(t *testing.T, address string) *proxy {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	host, port := u.Hostname(), u.Port()
	if of := u.Query().Get("host"); of != "" {
		host = of
	}
	if port == "" {
		port = "5432"
	}
	r := &proxy{T: t, socket: filepath.Join(t.TempDir(), ".s.PGSQL.5432"), network: "tcp", to: net.JoinHostPort(host, port), query: u}
	if strings.HasPrefix(host, "/") {
		r.network, r.to = "unix", filepath.Join(host, ".s.PGSQL."+port)
	}
	r.open()
	t.Cleanup(r.close)
	return r
}

// url returns the address of the database through the proxy.
func (r *proxy) url() string {
	u := *r.query
	u.Host = ""
	u.RawQuery = url.Values{"host": {filepath.Dir(r.socket)}, "sslmode": {"disable"}}.Encode()
	return u.String()
}

func (r *proxy) open() {
	r.Helper()
	listener, err := net.Listen("unix", r.socket)
	if err != nil {
		r.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener, r.conns = listener, map[net.Conn]bool{}
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial(r.network, r.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			r.mu.Lock()
			if r.listener == listener {
				r.conns[in], r.conns[out] = true, true
			} else {
				_, _ = in.Close(), out.Close()
			}
			r.mu.Unlock()
			go pipe(in, out)
			go pipe(out, in)
		}
	}()
}

// pipe copies one direction, then closes both connections.
func pipe(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = from.Close(), to.Close()
}

// close stops listening and breaks all connections.
func (r *proxy) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener == nil {
		return
	}
	_ = r.listener.Close()
	r.listener = nil
	for conn := range r.conns {
		_ = conn.Close()
	}
}

// TestDatabaseRefusesConnections: a server that refuses connections counts as an
// outage.
func TestDatabaseRefusesConnections(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.Postgres(t))
	admin, name := postgresAdmin(t, s)
	coach := s.Coach(t, coachNumber)
	execSQL(t, admin, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
	execSQL(t, admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, name)
	for range 3 {
		coach.Call(t, "GET", "/api/me", nil).Want(t, 503, "unavailable")
		coach.Call(t, "POST", "/api/players/add", child(1, guardianNumber)).Want(t, 503, "unavailable")
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": otherNumber}).Want(t, 503, "unavailable")
	}
	s.Call(t, "GET", "/readyz", "", nil).Want(t, 503)
	execSQL(t, admin, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS true")
	eventually(t, "the service is ready again", func() bool { return s.Call(t, "GET", "/readyz", "", nil).Status == 200 })
	coach.Call(t, "GET", "/api/me", nil).Want(t, 200)
	wantNoErrorLines(t, s)
}

// TestDatabaseReadOnly: while PostgreSQL refuses writes, as a standby does, reads work,
// writes answer 503, and the service is not ready.
func TestDatabaseReadOnly(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.Postgres(t))
	admin, name := postgresAdmin(t, s)
	coach := s.Coach(t, coachNumber)
	execSQL(t, admin, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
	execSQL(t, admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, name)
	coach.Call(t, "GET", "/api/players", nil).Want(t, 200)
	coach.Call(t, "POST", "/api/players/add", child(1, guardianNumber)).Want(t, 503, "unavailable")
	s.Call(t, "GET", "/readyz", "", nil).Want(t, 503)
	s.Call(t, "GET", "/healthz", "", nil).Want(t, 200)
	execSQL(t, admin, "ALTER DATABASE "+name+" RESET default_transaction_read_only")
	eventually(t, "the service is ready again", func() bool { return s.Call(t, "GET", "/readyz", "", nil).Status == 200 })
	coach.Call(t, "POST", "/api/players/add", child(1, guardianNumber)).Want(t, 201)
	wantNoErrorLines(t, s)
}
