package e2e_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

const (
	day = 24 * time.Hour
	// waitLimit is how long to wait for what must happen. A test that passes does not wait for its end, so it is long enough for
	// a machine on which other programs use all processors.
	waitLimit = 2 * time.Minute
	// quietPeriod is the time of the service in which something must not happen. It is
	// longer than two of the worker's polls.
	quietPeriod = 2500 * time.Millisecond
	// fileSweepPeriod is how often the worker deletes the files of deleted documents.
	fileSweepPeriod = 10 * time.Second
	// promptly is how long a call may take that waits for no lock and no gateway. A write may wait 10 s, and so may an attempt to send.
	promptly = 7 * time.Second
	// settleTime is real time in which work that a tick started ends.
	settleTime = 200 * time.Millisecond
)

// eventually waits until ready returns true.
func eventually(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for: %s", waitLimit, what)
		}
	}
}

// never fails the test if happened returns true while a period passes on the clock of
// s, or shortly after it.
func never(t *testing.T, s *touchlinetest.Service, what string, period time.Duration, happened func() bool) {
	t.Helper()
	s.Clock.Pass(period)
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if happened() {
			t.Fatal(what)
		}
	}
}

// renewTokens returns p with new tokens, after the test clock expired the old
// ones.
func renewTokens(t *testing.T, p *touchlinetest.User) *touchlinetest.User {
	t.Helper()
	a := p.Service.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": p.Refresh})
	if a.Status != 200 {
		return p.Service.SignIn(t, p.Role, p.Number)
	}
	next := *p
	next.Access, next.Refresh = a.String("access_token"), a.String("refresh_token")
	return &next
}

// child returns the request body that adds a guardian's nth student, without a
// number.
func child(n int, guardian string) map[string]any {
	body := touchlinetest.Minor(guardian, "")
	body["student"].(map[string]any)["full_name"] = fmt.Sprint("Asha Rao ", n)
	return body
}

// getRequest returns the approval request id as p sees it.
func getRequest(t *testing.T, p *touchlinetest.User, id string) *touchlinetest.Response {
	t.Helper()
	return p.Call(t, "GET", "/api/approval/requests/"+id, nil).Want(t, 200)
}

// smsDelivery returns the state and reason of a request's last SMS delivery.
func smsDelivery(a *touchlinetest.Response) (state, reason string) {
	list, _ := a.JSON["deliveries"].([]any)
	for _, d := range list {
		if d := d.(map[string]any); d["channel"] == "sms" {
			state, _ = d["state"].(string)
			reason, _ = d["reason"].(string)
		}
	}
	return state, reason
}

// smsDetail returns what a coach reads about the newest SMS of a request.
func smsDetail(a *touchlinetest.Response) (detail string) {
	list, _ := a.JSON["deliveries"].([]any)
	for _, d := range list {
		if d := d.(map[string]any); d["channel"] == "sms" {
			detail, _ = d["detail"].(string)
		}
	}
	return detail
}

// countNotifications returns how many notifications of a type p has.
func countNotifications(t *testing.T, p *touchlinetest.User, kind string) int {
	t.Helper()
	n := 0
	for _, item := range p.Call(t, "GET", "/api/notifications?limit=200", nil).Want(t, 200).Items() {
		if item["type"] == kind {
			n++
		}
	}
	return n
}

// openTables opens the database of s next to the service.
func openTables(t testing.TB, s *touchlinetest.Service) *sql.DB {
	t.Helper()
	return openSQL(t, s.Config.DatabaseURL.Reveal())
}

func openSQL(t testing.TB, address string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if path, is := strings.CutPrefix(address, "sqlite:"); is {
		driver, address = "sqlite", "file:"+path+"?_pragma=busy_timeout(20000)"
	} else if u, err := url.Parse(address); err == nil {
		query := u.Query()
		query.Del("pool_max_conns") // the driver's pool, which is not used here, would take it
		u.RawQuery = query.Encode()
		address = u.String()
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// postgresAdmin opens a connection to the PostgreSQL server of s and returns the
// name of its database; nil on SQLite.
func postgresAdmin(t *testing.T, s *touchlinetest.Service) (db *sql.DB, name string) {
	t.Helper()
	u, err := url.Parse(s.Config.DatabaseURL.Reveal())
	if err != nil || u.Scheme == "sqlite" {
		return nil, ""
	}
	name = strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres"
	return openSQL(t, u.String()), name
}

func execSQL(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if _, err := db.ExecContext(ctx, query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// queryOne returns a single value.
func queryOne[T any](t testing.TB, db *sql.DB, query string, args ...any) (v T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := db.QueryRowContext(ctx, query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// cliContext is what a command of the command line works with.
type cliContext struct {
	*server.Operators
	ctx context.Context
	by  actor.Operator
}

// runCLI runs a command of the command line and fails the test on an error.
func runCLI(t *testing.T, s *touchlinetest.Service, what string, do func(sh *cliContext) error) {
	t.Helper()
	s.CLI(t, func(ctx context.Context, by actor.Operator, sh *server.Operators) {
		if err := do(&cliContext{sh, ctx, by}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	})
}
