// Package storetest gives tests databases of both engines: SQLite files, and databases on
// a PostgreSQL cluster that lives as long as the test process.
package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver of SQLite

	"github.com/touchline/touchline/internal/platform/programtest"
)

const (
	// serverEnv names a running server on which databases may be created.
	serverEnv = "TOUCHLINE_TEST_POSTGRES"
	// completeEnv is "on" in CI: Complete.
	completeEnv = "TOUCHLINE_TEST_COMPLETE"
	// maxIdle is how many connections to a server stay open between the statements of
	// administer.
	maxIdle = 2
)

// EachEmpty runs test as subtests "sqlite" and "postgres", each with the URL of an empty
// database.
func EachEmpty(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, EmptySQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, EmptyPostgres(t)) })
}

// EmptySQLite returns the URL of a database in a temporary folder, in memory if possible: there
// a commit waits for no disk. The file does not exist yet.
func EmptySQLite(tb testing.TB) string {
	tb.Helper()
	parent := memoryFolder()
	if parent == "" {
		parent = tb.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "touchline-sqlite-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return "sqlite:" + filepath.Join(dir, "touchline.db")
}

// EmptyPostgres returns the URL of an empty database. When tb ends, the database and its
// connections are dropped. TOUCHLINE_TEST_POSTGRES names the server, or else a
// throwaway cluster of this test process. Without server programs it skips tb.
func EmptyPostgres(tb testing.TB) string {
	tb.Helper()
	return createFor(tb, server(tb), "template0 ENCODING 'UTF8'")
}

// LimitedPostgres creates an empty database and returns its URL for a role that may use neither
// advisory locks nor NOTIFY, as on a server that has neither.
func LimitedPostgres(tb testing.TB) string {
	tb.Helper()
	shared := server(tb)
	role := "touchline_" + strings.ToLower(rand.Text())
	run := func(server *url.URL, statements ...string) {
		for _, statement := range statements {
			if err := administer(server, statement); err != nil {
				tb.Fatalf("%s: %v", statement, err)
			}
		}
	}
	run(shared, "CREATE ROLE "+role+" LOGIN")
	tb.Cleanup(func() { run(shared, "DROP ROLE "+role) })
	u, err := url.Parse(createFor(tb, shared, "template0 ENCODING 'UTF8'"))
	if err != nil {
		tb.Fatal(err)
	}
	run(
		u, `GRANT ALL ON SCHEMA public TO `+role, `REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC`,
		`DO $$ DECLARE f regprocedure; BEGIN
			FOR f IN SELECT oid::regprocedure FROM pg_proc WHERE proname LIKE 'pg\_%advisory%' LOOP
				EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM PUBLIC';
			END LOOP;
		END $$`,
	)
	limited := *u
	limited.User = url.User(role)
	return limited.String()
}

// errNoCluster means that this system or user cannot run a cluster.
var errNoCluster = errors.New("or set " + serverEnv + " to the URL of a server where databases may be created")

// server returns the shared server, or skips tb without one.
func server(tb testing.TB) *url.URL {
	tb.Helper()
	if os.Getenv(serverEnv) == "" {
		programtest.PostgreSQL.Need(tb)
	}
	server, err := sharedServer()
	switch {
	case errors.Is(err, errNoCluster):
		programtest.PostgreSQL.Skip(tb, err.Error())
	case err != nil:
		tb.Fatal(err)
	}
	return server
}

// createFor creates a copy of template for tb.
func createFor(tb testing.TB, server *url.URL, template string) string {
	tb.Helper()
	address, drop, err := create(server, template)
	if err != nil {
		tb.Fatalf("create a database: %v", err)
	}
	tb.Cleanup(func() {
		if err := drop(); err != nil {
			tb.Errorf("drop the database: %v", err)
		}
	})
	return address
}

// Create creates an empty database on server and returns its URL. drop drops it and its
// connections.
func Create(server *url.URL) (address string, drop func() error, err error) {
	return create(server, "template0 ENCODING 'UTF8'")
}

func create(server *url.URL, template string) (address string, drop func() error, err error) {
	name := "touchline_" + strings.ToLower(rand.Text())
	if err := administer(server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		return "", nil, err
	}
	u := *server
	u.Path = "/" + name
	return u.String(), func() error { return administer(server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") }, nil
}

// withoutFsync makes tests faster: a power cut would lose commits. Autovacuum would start a
// process for each test's database. By default PostgreSQL plans each of the first
// five executions of a prepared statement; a generic plan is made once for each connection.
var withoutFsync = []string{"-c", "autovacuum=off", "-c", "plan_cache_mode=force_generic_plan", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_wal_size=256MB"}

// sharedServer is the server of this process's tests, without fsync. DurableServer is
// another one with fsync, for measurements. If TOUCHLINE_TEST_POSTGRES names a server,
// both are that server.
var (
	sharedServer  = sync.OnceValues(func() (*url.URL, error) { return findServer(memoryFolder(), withoutFsync...) })
	DurableServer = sync.OnceValues(func() (*url.URL, error) { return findServer("") })
)

func findServer(folder string, settings ...string) (*url.URL, error) {
	if raw := os.Getenv(serverEnv); raw != "" {
		u, err := url.Parse(raw)
		if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
			return nil, fmt.Errorf("%s is not a URL such as postgres://user@host/postgres", serverEnv)
		}
		return u, nil
	}
	return startCluster(folder, settings...)
}

// administrators holds idle connections to the servers, by URL. A new connection costs more
// than the statement that it runs.
var administrators sync.Map // of string to chan *pgx.Conn

// administer runs one statement on an idle connection, or on a new one.
func administer(server *url.URL, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	value, _ := administrators.LoadOrStore(server.String(), make(chan *pgx.Conn, maxIdle))
	idle := value.(chan *pgx.Conn)
	conn, err := connect(ctx, server, idle)
	if err != nil {
		return err
	}
	if _, err = conn.Exec(ctx, statement); err == nil {
		select {
		case idle <- conn:
			return nil
		default:
		}
	}
	return errors.Join(err, conn.Close(ctx))
}

// connect returns an idle connection, or a new one.
func connect(ctx context.Context, server *url.URL, idle <-chan *pgx.Conn) (*pgx.Conn, error) {
	select {
	case conn := <-idle:
		return conn, nil
	default:
		u := *server
		query := u.Query()
		query.Del("pool_max_conns") // for the pool of a service
		u.RawQuery = query.Encode()
		return pgx.Connect(ctx, u.String())
	}
}
