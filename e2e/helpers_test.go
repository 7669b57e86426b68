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

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/touchlinetest"
)

const (
	day = 24 * time.Hour
	// waitLimit is how long something that comes by itself may take on a machine
	// that is busy with other tests.
	waitLimit = 30 * time.Second
	// quietPeriod is how long the tests look for what must not come: longer than the
	// worker's poll.
	quietPeriod = 2500 * time.Millisecond
)

// eventually waits until ready says so.
func eventually(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", waitLimit, what)
		}
	}
}

// never watches for a while that something does not happen.
func never(t *testing.T, what string, length time.Duration, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if happened() {
			t.Fatal(what)
		}
	}
}

// renewTokens gives p new tokens: moving the clock ended the access token.
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

// child is the body that adds the nth student of a guardian, without a number.
func child(n int, guardian string) map[string]any {
	body := touchlinetest.Minor(guardian, "")
	body["student"].(map[string]any)["full_name"] = fmt.Sprint("Asha Rao ", n)
	return body
}

// getRequest is the request with this id as p sees it.
func getRequest(t *testing.T, p *touchlinetest.User, id string) *touchlinetest.Response {
	t.Helper()
	return p.Call(t, "GET", "/api/approval/requests/"+id, nil).Want(t, 200)
}

// smsDelivery is the last delivery by SMS of a request: its state and its reason.
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

// countNotifications counts the notifications of a type that p has.
func countNotifications(t *testing.T, p *touchlinetest.User, kind string) int {
	t.Helper()
	n := 0
	for _, note := range p.Call(t, "GET", "/api/notifications?limit=200", nil).Want(t, 200).Items() {
		if note["type"] == kind {
			n++
		}
	}
	return n
}

// openTables opens the database of s beside the service.
func openTables(t *testing.T, s *touchlinetest.Service) *sql.DB {
	t.Helper()
	return openSQL(t, s.Config.DatabaseURL.Reveal())
}

func openSQL(t *testing.T, address string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if path, is := strings.CutPrefix(address, "sqlite:"); is {
		driver, address = "sqlite", "file:"+path+"?_pragma=busy_timeout(20000)"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// postgresAdmin is a connection beside the database of s, or nil on SQLite.
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

func execSQL(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if _, err := db.ExecContext(ctx, query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// queryOne reads a single value.
func queryOne[T any](t *testing.T, db *sql.DB, query string, args ...any) (v T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := db.QueryRowContext(ctx, query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// cliContext is a shell beside the service.
type cliContext struct {
	*server.Operators
	ctx context.Context
	by  actor.Operator
}

// runCLI has do work as the command line does.
func runCLI(t *testing.T, s *touchlinetest.Service, what string, do func(sh *cliContext) error) {
	t.Helper()
	s.CLI(t, func(ctx context.Context, by actor.Operator, sh *server.Operators) {
		if err := do(&cliContext{sh, ctx, by}); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	})
}
