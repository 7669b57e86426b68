package dump_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// copyInChild, if set, makes the test binary run a copy that kills itself in a table: from, to, table.
const copyInChild = "COPY_IN_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(copyInChild); args != "" {
		copyAndDie(args)
	}
	if args := os.Getenv(restoreInChild); args != "" {
		restoreAndDie(args)
	}
	os.Exit(storetest.Main(m, 4))
}

func copyAndDie(args string) {
	parts := strings.Split(args, "\n")
	c := newCopy(parts[0], parts[1])
	c.Progress = func(table string, _ int64) {
		if table == parts[2] {
			die()
		}
	}
	if parts[2] == killedAtFiles {
		c.Files = func(context.Context) (dump.Files, error) { die(); return dump.Files{}, nil }
	}
	_, err := c.Run(context.Background())
	fmt.Println("the copy ended:", err)
	os.Exit(1)
}

func newCopy(from, to string) dump.Copy {
	return dump.Copy{From: from, To: to, Migrations: store.Migrations(), Chunk: 7}
}

// rows is how many rows each table has in the tests: more than one chunk.
const rows = 20

// fillTables puts rows into every table of a SQLite database. Rows reference rows of other tables as the schema says.
func fillTables(t testing.TB, address string, rows func(table string) int) {
	t.Helper()
	file, err := sql.Open("sqlite", strings.TrimPrefix(address, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := database.OpenBulkWriter(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(b.Close(), file.Close()); err != nil { // the last connection moves the log into the file
			t.Fatal(err)
		}
	}()
	tables, err := b.Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, table := range tables {
		if err := b.Delete(t.Context(), table); err != nil { // what migrations put there
			t.Fatal(err)
		}
		parents := parentValues(t, file, table.Name)
		n := 0
		next := func() ([]any, error) {
			if n == rows(table.Name) {
				return nil, nil
			}
			n++
			row := make([]any, len(table.Columns))
			for i, c := range table.Columns {
				switch values := parents[c.Name]; {
				case values != nil:
					row[i] = values[n%len(values)]
				case table.Name == "streams" && c.Name == "slot": // has a CHECK
					row[i] = int64(n % 10)
				case table.Name == "deliveries" && c.Name == "lease":
					row[i] = nil
				default:
					row[i] = value(random, c.Kind, n)
				}
			}
			return row, nil
		}
		err := b.Write(t.Context(), func() error {
			_, err := b.Insert(t.Context(), table, next)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.CheckReferences(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func parentValues(t testing.TB, file *sql.DB, table string) map[string][]any {
	rs, err := file.Query(`SELECT "table", "from", coalesce("to", 'id') FROM pragma_foreign_key_list(?)`, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rs.Close()
	values := map[string][]any{}
	for rs.Next() {
		var parent, from, to string
		if err := rs.Scan(&parent, &from, &to); err != nil {
			t.Fatal(err)
		}
		found, err := file.Query(`SELECT "` + to + `" FROM "` + parent + `" ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		for found.Next() {
			var v string
			if err := found.Scan(&v); err != nil {
				t.Fatal(err)
			}
			values[from] = append(values[from], v)
		}
		found.Close()
	}
	return values
}

// value returns a value that differs for each n. Texts sort differently in different collations.
func value(random *rand.Rand, kind database.Kind, n int) any {
	switch kind {
	case database.KindText:
		return fmt.Sprintf("%c%d-%s \u0928\u092e\u0938\u094d\u0924\u0947, \"Ö\"\t%d", "aBcDzZ_-é"[n%8], random.IntN(1000), []string{"", "x", "Ñandú"}[n%3], n)
	case database.KindInt:
		return int64(n) * 1009
	case database.KindBytes:
		return []byte{0, byte(n), 255}[:min(n-1, 1)*3]
	case database.KindBool:
		return n%2 == 0
	default:
		return 0.1 * float64(n)
	}
}

// filled returns a SQLite database with rows in every table. It is made once and copied.
func filled(t *testing.T) string {
	t.Helper()
	template.Do(func() {
		address := storetest.SQLite(t)
		fillTables(t, address, func(string) int { return rows })
		templateFile, templateErr = os.ReadFile(strings.TrimPrefix(address, "sqlite:"))
	})
	if templateErr != nil || len(templateFile) == 0 {
		t.Fatalf("no database to copy: %v", templateErr)
	}
	address := storetest.EmptySQLite(t)
	if err := os.WriteFile(strings.TrimPrefix(address, "sqlite:"), templateFile, 0o600); err != nil {
		t.Fatal(err)
	}
	return address
}

var (
	template     sync.Once
	templateFile []byte
	templateErr  error
)

// TestCopyThereAndBack: SQLite to PostgreSQL to SQLite has every row of every table.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	first, second, third := filled(t), storetest.EmptyPostgres(t), storetest.EmptySQLite(t)
	there, err := newCopy(first, second).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	back, err := newCopy(second, third).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(there, back); diff != "" {
		t.Error(diff)
	}
	for _, table := range back.Tables {
		if table.Rows != rows {
			t.Errorf("%s: %d rows were copied, want %d", table.Table, table.Rows, rows)
		}
	}
	compareFiles(t, first, third)
	for _, url := range []string{second, third} {
		if _, err := newCopy(first, url).Run(t.Context()); !errors.Is(err, dump.ErrNotEmpty) {
			t.Errorf("a second copy: got %v, want ErrNotEmpty", err)
		}
	}
}

// compareFiles compares two SQLite files with SQL of SQLite alone.
func compareFiles(t *testing.T, one, other string) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(one, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`ATTACH ? AS other`, strings.TrimPrefix(other, "sqlite:")); err != nil {
		t.Fatal(err)
	}
	found, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'goose_db_version'`)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for found.Next() {
		var name string
		if err := found.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if len(names) < 80 {
		t.Fatalf("there are %d tables", len(names))
	}
	for _, name := range names {
		var n int
		err := db.QueryRow(`SELECT count(*) FROM (SELECT * FROM main."` + name + `" EXCEPT SELECT * FROM other."` + name + `")`).Scan(&n)
		if err != nil || n > 0 {
			t.Errorf("%s: %d rows of the first file are not in the last, %v", name, n, err)
		}
	}
}

// TestCopyResumes: a copy that is killed continues, and a service may not use its target meanwhile.
func TestCopyResumes(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"postgres", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			from, to := filled(t), storetest.EmptySQLite(t)
			if kind == "postgres" {
				to = storetest.EmptyPostgres(t)
			}
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), copyInChild+"="+strings.Join([]string{from, to, "players"}, "\n"))
			out, err := child.CombinedOutput()
			if status, ok := errors.AsType[*exec.ExitError](err); !ok || status.ExitCode() != -1 {
				t.Fatalf("the copy was not killed: %v %s", err, out)
			}
			db, err := database.Open(t.Context(), to, database.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := dump.CheckComplete(t.Context(), db); err == nil || !strings.Contains(err.Error(), `run "touchline copy" again`) {
				t.Errorf("the killed copy: got %v", err)
			}
			var players int
			if err := db.QueryRow(t.Context(), `SELECT count(*) FROM players`).Scan(&players); err != nil || players == 0 || players == rows {
				t.Errorf("%d players were copied, want some: %v", players, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := newCopy(filled(t), to).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "a part of a copy of") {
				t.Errorf("a copy of another source: %v", err)
			}
			r, err := newCopy(from, to).Run(t.Context())
			if err != nil || !r.Resumed {
				t.Fatalf("resumed %t: %v", r.Resumed, err)
			}
			for _, table := range r.Tables {
				if table.Rows != rows {
					t.Errorf("%s has %d rows, want %d", table.Table, table.Rows, rows)
				}
			}
		})
	}
}

// TestCopyNoticesDifference: a row that changes in the target is found.
func TestCopyNoticesDifference(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, to string) {
		c := newCopy(filled(t), to)
		c.Progress = func(table string, _ int64) {
			if table != "accounts" {
				return
			}
			db, err := database.Open(context.Background(), to, database.Options{})
			if err == nil {
				_, err = db.Exec(context.Background(), `UPDATE accounts SET created_at = created_at + 1 WHERE id = (SELECT min(id) FROM accounts)`)
			}
			if err = errors.Join(err, db.Close()); err != nil {
				t.Error(err)
			}
		}
		if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "the table accounts has 20 rows with the checksum") {
			t.Errorf("got %v", err)
		}
	})
}

// TestCopyRefusesService: no service may use the source or the target.
func TestCopyRefusesService(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) string{
		"sqlite": func(t *testing.T) string {
			url := storetest.SQLite(t)
			lock, err := database.LockServer(t.Context(), url, 0, func() {})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { lock.Close() })
			return url
		},
		"postgres": func(t *testing.T) string {
			url := storetest.Postgres(t)
			db, err := database.Open(t.Context(), url, database.Options{ApplicationName: "touchline"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return url
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			used := open(t)
			for _, c := range []dump.Copy{newCopy(used, storetest.EmptySQLite(t)), newCopy(storetest.SQLite(t), used)} {
				if _, err := c.Run(t.Context()); !errors.Is(err, dump.ErrRunning) {
					t.Errorf("from %s to %s: got %v, want ErrRunning", c.From, c.To, err)
				}
			}
			if _, err := newCopy(used, used).Run(t.Context()); err == nil {
				t.Error("a database was copied to itself")
			}
		})
	}
}

// TestFreshDatabaseIsEmpty: the rows that migrations insert do not make a database one with data.
func TestFreshDatabaseIsEmpty(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, to string) {
		r, err := newCopy(storetest.SQLite(t), to).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Rows() != 2 {
			t.Errorf("%d rows, want one of consent_log and one of change_feed", r.Rows())
		}
	})
}
