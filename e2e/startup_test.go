package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestStartBehindMigration: a replica that waits for another process that migrates is alive, is not ready, and says why.
func TestStartBehindMigration(t *testing.T) {
	t.Parallel()
	database := storetest.EmptyPostgres(t)
	other, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.Background())
	if _, err := other.Exec(t.Context(), `SELECT pg_advisory_lock(7306642134)`); err != nil { // database.migrateLock
		t.Fatal(err)
	}
	// A port below those that systems give to other listeners and connections, which could take it before the replica does.
	var free net.Listener
	for free == nil {
		free, _ = new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(12_000)))
	}
	address := free.Addr().String()
	_ = free.Close()
	p := launch(t, t.TempDir(), []string{"serve"}, "TOUCHLINE_ADDR="+address, "TOUCHLINE_DATABASE_URL="+database)
	s := touchlinetest.At("http://" + address)
	answers := func(path string, status int, text string) func() bool {
		return func() bool {
			r, err := s.Do(context.Background(), http.MethodGet, path, "", nil)
			return err == nil && r.Status == status && strings.Contains(string(r.Body), text)
		}
	}
	eventually(t, "the replica is alive", answers("/healthz", 200, "ok"))
	eventually(t, "the replica says why it is not ready", answers("/readyz", 503, "The replica waits for another process that migrates."))
	eventually(t, "the log says why", func() bool { return strings.Contains(p.stderrText(), "waits for another process that migrates") })
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.waitUntilServing()
	eventually(t, "the replica is ready", answers("/readyz", 200, "ok"))
}
