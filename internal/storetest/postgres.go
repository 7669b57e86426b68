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
	name := "touchline_" + strings.ToLower(rand.Text())
	if err := administer(server, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		tb.Fatalf("create a database: %v", err)
	}
	tb.Cleanup(func() {
		if err := administer(server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("drop the database %s: %v", name, err)
		}
	})
	u := *server
	u.Path = "/" + name
	return u.String()
}

// sharedServer is the one server of this test process.
var sharedServer = sync.OnceValues(func() (*url.URL, error) {
	if raw := os.Getenv(serverEnv); raw != "" {
		u, err := url.Parse(raw)
		if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
			return nil, fmt.Errorf("%s is not a URL such as postgres://user@host/postgres", serverEnv)
		}
		return u, nil
	}
	return startCluster()
})

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
