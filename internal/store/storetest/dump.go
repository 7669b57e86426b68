package storetest

import (
	"errors"
	"net/url"
	"os/exec"
	"testing"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// Dump returns what pg_dump writes of the PostgreSQL database at address. Without pg_dump it skips tb.
func Dump(tb testing.TB, address string) string {
	tb.Helper()
	program := programtest.PgDump.Need(tb)
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	query := u.Query() // without the settings of the pool of connections, which pg_dump does not know
	u.RawQuery = url.Values{"host": query["host"], "sslmode": query["sslmode"]}.Encode()
	out, err := exec.Command(program, "--dbname", u.String()).Output()
	if err != nil {
		if failed, isExit := errors.AsType[*exec.ExitError](err); isExit {
			tb.Fatalf("pg_dump: %v: %s", err, failed.Stderr)
		}
		tb.Fatalf("pg_dump: %v", err)
	}
	return string(out)
}
