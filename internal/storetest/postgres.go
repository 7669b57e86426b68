// Package storetest gives tests both engines: a file for SQLite, and databases on
// a PostgreSQL cluster that lives as long as the test process. It is for tests
// alone and knows nothing of what package store keeps.
package storetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// serverEnv names a running server on which databases may be created.
	serverEnv = "TOUCHLINE_TEST_POSTGRES"
	// requireEnv, when "on", turns the lack of a server into a failure: for CI.
	requireEnv = "TOUCHLINE_TEST_REQUIRE_POSTGRES"
)

// Each runs test on either engine, as subtests "sqlite" and "postgres", each with
// the URL of an empty database of its own.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// SQLite returns the URL of a database in a temporary folder.
func SQLite(tb testing.TB) string {
	tb.Helper()
	return "sqlite:" + filepath.Join(tb.TempDir(), "touchline.db")
}

// Postgres returns the URL of an empty database, dropped when tb ends, connections
// to it included. Its server is TOUCHLINE_TEST_POSTGRES where that is set, else a
// throwaway cluster of the programs found on this machine, one for each test
// process. Where there is neither it skips tb.
func Postgres(tb testing.TB) string {
	tb.Helper()
	server, err := sharedServer()
	if err != nil {
		if os.Getenv(requireEnv) == "on" {
			tb.Fatalf("PostgreSQL is required by %s: %v", requireEnv, err)
		}
		tb.Skipf("no PostgreSQL: %v", err)
	}
	address, drop, err := Create(server)
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

// Create makes an empty database on server and returns its URL; drop removes it,
// connections to it included.
func Create(server *url.URL) (address string, drop func() error, err error) {
	name := "touchline_" + strings.ToLower(rand.Text())
	if err := administer(server, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		return "", nil, err
	}
	u := *server
	u.Path = "/" + name
	return u.String(), func() error { return administer(server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") }, nil
}

// careless makes commits that a power cut would undo: tests are quicker by it.
var careless = []string{"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"}

// sharedServer is the one server of this process, quick and careless. DurableServer
// is another whose commits wait for the disk, as a real one's do: for measurements.
// A server that TOUCHLINE_TEST_POSTGRES names is both, as it is.
var (
	sharedServer  = sync.OnceValues(func() (*url.URL, error) { return findServer(careless...) })
	DurableServer = sync.OnceValues(func() (*url.URL, error) { return findServer() })
)

func findServer(settings ...string) (*url.URL, error) {
	if raw := os.Getenv(serverEnv); raw != "" {
		u, err := url.Parse(raw)
		if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
			return nil, fmt.Errorf("%s is not a URL such as postgres://user@host/postgres", serverEnv)
		}
		return u, nil
	}
	return startCluster(settings...)
}

// administer runs one statement on a connection of its own.
func administer(server *url.URL, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server.String())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}
