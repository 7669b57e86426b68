package store_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/store/storetest"
)

// TestSQLiteIsMigrated: the database that storetest.SQLite copies for a test has the tables, so that
// no test runs the migrations.
func TestSQLiteIsMigrated(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(storetest.SQLite(t), "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables int
	if err := db.QueryRow(`SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('players', 'requests', 'deliveries')`).Scan(&tables); err != nil || tables != 3 {
		t.Errorf("got %d of 3 tables: %v", tables, err)
	}
}
