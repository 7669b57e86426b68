package dump_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"filippo.io/age"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// killedAtFiles and killedAtErasures make the child kill itself there and not in a table.
const (
	killedAtFiles    = "(files)"
	killedAtErasures = "(erasures)"
)

func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}

// failing returns the migrations of the service, of which the one at index i fails at its end. A run that is killed between two
// migrations leaves the same database.
func failing(t *testing.T, i int) fs.FS {
	t.Helper()
	names, err := fs.Glob(store.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	all := fstest.MapFS{}
	for n, name := range names {
		text, err := fs.ReadFile(store.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		if n == (i+len(names))%len(names) {
			text = append(text, "\nINSERT INTO interrupted VALUES (1);\n"...)
		}
		all[name] = &fstest.MapFile{Data: text}
	}
	return all
}

func emptyTarget(t *testing.T, like string) string {
	t.Helper()
	if strings.HasPrefix(like, "sqlite:") {
		return storetest.EmptySQLite(t)
	}
	return storetest.EmptyPostgres(t)
}

// wantMark fails unless no service may start on a database, because of want.
func wantMark(t *testing.T, url, want string) {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(dump.CheckComplete(t.Context(), db), db.Close())
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("the start of a service: got %v, want %q", err, want)
	}
}

// wantRows fails unless a database is complete.
func wantRows(t *testing.T, url string) {
	t.Helper()
	wantMark(t, url, "")
	db, err := database.Open(t.Context(), url, database.Options{Migrations: store.Migrations()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var players, installation, feeds int
	err = db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM players), (SELECT count(*) FROM installation), (SELECT count(*) FROM change_feed)`).Scan(&players, &installation, &feeds)
	if err := errors.Join(err, db.Migrated(t.Context())); err != nil || players != rows || installation != rows || feeds != rows {
		t.Errorf("%d players, %d values, %d feeds, want %d of each: %v", players, installation, feeds, rows, err)
	}
}

// TestCopyInterruptedInMigrations: from the first table on no service starts on a target, and the same copy continues.
func TestCopyInterruptedInMigrations(t *testing.T) {
	t.Parallel()
	for _, like := range []string{"sqlite:", "postgres:"} {
		t.Run(like, func(t *testing.T) {
			t.Parallel()
			from := filled(t)
			if like == "sqlite:" { // the way back
				other := storetest.EmptyPostgres(t)
				if _, err := newCopy(from, other).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				from = other
			}
			to := emptyTarget(t, like)
			for _, at := range []int{0, 1, 2, 7, -1} {
				c := newCopy(from, to)
				c.Migrations = failing(t, at)
				if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "interrupted") {
					t.Fatalf("migration %d: got %v, want its error", at, err)
				}
				want := `run "touchline copy" again`
				if at == 0 {
					want = "" // there is no table yet
				}
				wantMark(t, to, want)
			}
			b := newBackup(to)
			if _, err := b.Write(t.Context(), io.Discard, newIdentity(t).Recipient()); err == nil || !strings.Contains(err.Error(), `run "touchline copy" again`) {
				t.Errorf("a backup of the target: %v", err)
			}
			if _, err := newCopy(to, emptyTarget(t, like)).Run(t.Context()); err == nil || !strings.Contains(err.Error(), `run "touchline copy" again`) {
				t.Errorf("a copy of the target: %v", err)
			}
			r, err := newCopy(from, to).Run(t.Context())
			if err != nil || !r.Resumed {
				t.Fatalf("resumed %t: %v", r.Resumed, err)
			}
			wantRows(t, to)
		})
	}
}

// TestCopyKilledBeforeRows: a copy that is killed while it copies files has marked its target.
func TestCopyKilledBeforeRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, like string) {
		from := filled(t)
		for name, to := range map[string]string{"without tables": emptyTarget(t, like), "migrated": like} {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), copyInChild+"="+strings.Join([]string{from, to, killedAtFiles}, "\n"))
			out, err := child.CombinedOutput()
			if status, ok := errors.AsType[*exec.ExitError](err); !ok || status.ExitCode() != -1 {
				t.Fatalf("%s: the copy was not killed: %v %s", name, err, out)
			}
			wantMark(t, to, `run "touchline copy" again`)
			// Nothing was copied yet: another source may be copied.
			if r, err := newCopy(filled(t), to).Run(t.Context()); err != nil || r.Resumed {
				t.Errorf("%s: resumed %t: %v", name, r.Resumed, err)
			}
			wantRows(t, to)
		}
	})
}

// TestCopyIntoDataMarksNothing: a target with data keeps its tables, and its service starts.
func TestCopyIntoDataMarksNothing(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, to string) {
		db, err := database.Open(t.Context(), to, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(t.Context(), `INSERT INTO installation (name, value) VALUES ('files', 'x')`)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		from, id := filled(t), newIdentity(t)
		if _, err := newCopy(from, to).Run(t.Context()); !errors.Is(err, dump.ErrNotEmpty) {
			t.Errorf("copy: got %v, want ErrNotEmpty", err)
		}
		if _, err := restore(t, backUp(t, newBackup(from), id), to, id); !errors.Is(err, dump.ErrNotEmpty) {
			t.Errorf("restore: got %v, want ErrNotEmpty", err)
		}
		wantMark(t, to, "")
	})
}

// olderBackup returns a backup of a filled database without the newest migration.
func olderBackup(t *testing.T, id *age.X25519Identity) []byte {
	t.Helper()
	from := storetest.EmptySQLite(t)
	db, err := database.Open(t.Context(), from, database.Options{Migrations: database.MigrationsUpTo(store.Migrations(), newest(t)-1)})
	if err == nil {
		err = errors.Join(db.Migrate(t.Context()), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	fillTables(t, from, func(string) int { return rows })
	b := newBackup(from)
	b.Now = b.Now.Add(-time.Hour)
	return backUp(t, b, id)
}

// TestRestoreInterrupted: a restore that ends between two migrations, in the rows, with the last row, or in the migrations after the
// rows leaves a database on which no service starts. The same restore continues.
func TestRestoreInterrupted(t *testing.T) {
	t.Parallel()
	id := newIdentity(t)
	backup, older := backUp(t, newBackup(filled(t)), id), olderBackup(t, id)
	ledger := newBackup(filled(t))
	ledger.Now, ledger.Erasures = ledger.Now.Add(1), filepath.Join(t.TempDir(), "erasures")
	if err := os.WriteFile(ledger.Erasures, []byte("line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := backUp(t, ledger, id)
	file := filepath.Join(t.TempDir(), "backup.age")
	if err := os.WriteFile(file, other, 0o600); err != nil {
		t.Fatal(err)
	}
	const again = `run "touchline restore" again`
	storetest.Each(t, func(t *testing.T, like string) {
		run := func(backup []byte, to string, migrations fs.FS) error {
			a, err := dump.OpenArchive(bytes.NewReader(backup), newest(t), id)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			_, err = a.Restore(t.Context(), dump.Restore{To: to, Migrations: migrations, Files: folder(t), Erasures: discard})
			return err
		}
		to := emptyTarget(t, like)
		for _, at := range []int{1, 7, -1} {
			if err := run(backup, to, failing(t, at)); err == nil || !strings.Contains(err.Error(), "interrupted") {
				t.Fatalf("migration %d: got %v, want its error", at, err)
			}
			wantMark(t, to, again)
		}
		for _, table := range []string{"secrets", "webhooks", killedAtErasures} {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), restoreInChild+"="+strings.Join([]string{file, id.String(), to, table}, "\n"))
			out, err := child.CombinedOutput()
			if status, ok := errors.AsType[*exec.ExitError](err); !ok || status.ExitCode() != -1 {
				t.Fatalf("%s: the restore was not killed: %v %s", table, err, out)
			}
			wantMark(t, to, again)
		}
		// No row was committed: another backup may be restored.
		if err := run(other, to, store.Migrations()); err != nil {
			t.Errorf("the restore again: %v", err)
		}
		wantRows(t, to)

		to = emptyTarget(t, like)
		if err := run(older, to, failing(t, -1)); err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Fatalf("the migration after the rows: got %v, want its error", err)
		}
		wantMark(t, to, again)
		if err := run(backup, to, store.Migrations()); err == nil || !strings.Contains(err.Error(), "it has a part of a restore of backup of") {
			t.Errorf("another backup: %v", err)
		}
		if _, err := newCopy(filled(t), to).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "it has a part of a restore of backup of") {
			t.Errorf("a copy into it: %v", err)
		}
		if err := run(older, to, store.Migrations()); err != nil {
			t.Errorf("the restore again: %v", err)
		}
		wantMark(t, to, "")
		wantMigrated(t, to)
	})
}

func wantMigrated(t *testing.T, url string) {
	t.Helper()
	db, err := database.Open(context.Background(), url, database.Options{Migrations: store.Migrations()})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Migrated(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
}
