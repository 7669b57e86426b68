package dump_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// newest is the version of the newest migration.
func newest(t testing.TB) int64 {
	t.Helper()
	v, err := database.NewestMigration(store.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func newIdentity(t testing.TB) *age.X25519Identity {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func folder(t testing.TB) blob.Store {
	t.Helper()
	files, err := blob.Open(t.Context(), "file:"+t.TempDir(), blob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	return files
}

func newBackup(from string) dump.Backup {
	return dump.Backup{From: from, Migrations: store.Migrations(), Release: "0.1.0", Now: time.Unix(1e9, 0)}
}

// backUp returns a backup of a database.
func backUp(t testing.TB, b dump.Backup, id *age.X25519Identity) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := b.Write(t.Context(), &out, id.Recipient()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func discard(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// restore restores a backup into an empty database.
func restore(t testing.TB, backup []byte, to string, id age.Identity) (dump.Contents, error) {
	t.Helper()
	a, err := dump.OpenArchive(bytes.NewReader(backup), newest(t), id)
	if err != nil {
		return dump.Contents{}, err
	}
	defer a.Close()
	return a.Restore(t.Context(), dump.Restore{To: to, Migrations: store.Migrations(), Files: folder(t), Erasures: discard})
}

// TestRestoreIntoEachEngine: a backup of either engine has every row of every table in either engine.
func TestRestoreIntoEachEngine(t *testing.T) {
	t.Parallel()
	first, id := filled(t), newIdentity(t)
	empty := map[string]func(testing.TB) string{"sqlite": storetest.EmptySQLite, "postgres": storetest.EmptyPostgres}
	for engine := range empty {
		t.Run("from "+engine, func(t *testing.T) {
			from := first
			if engine == "postgres" {
				from = storetest.EmptyPostgres(t)
				if _, err := newCopy(first, from).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			backup := backUp(t, newBackup(from), id)
			for kind, create := range empty {
				t.Run("to "+kind, func(t *testing.T) {
					t.Parallel()
					to := create(t)
					a, err := dump.OpenArchive(bytes.NewReader(backup), newest(t), id)
					if err != nil {
						t.Fatal(err)
					}
					if a.Manifest.Engine != engine || a.Manifest.Migration != newest(t) || !a.Manifest.CreatedAt.Equal(time.Unix(1e9, 0)) {
						t.Errorf("manifest %+v", a.Manifest)
					}
					checked, err := a.Check()
					if err != nil {
						t.Fatal(err)
					}
					c, err := restore(t, backup, to, id)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(checked, c); diff != "" {
						t.Error(diff)
					}
					for _, table := range c.Tables {
						if table.Rows != rows {
							t.Errorf("%s has %d rows, want %d", table.Table, table.Rows, rows)
						}
					}
					if kind == "sqlite" {
						compareFiles(t, first, to)
					}
					if _, err := restore(t, backup, to, id); !errors.Is(err, dump.ErrNotEmpty) {
						t.Errorf("a second restore: got %v, want ErrNotEmpty", err)
					}
				})
			}
		})
	}
}

// randomLines returns lines that cannot be compressed, so that a backup has several blocks of age.
func randomLines(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(rand.Text() + "\n")
	}
	return b.String()
}

// TestDamagedBackup: a backup that was cut or changed is refused, and the database stays empty.
func TestDamagedBackup(t *testing.T) {
	t.Parallel()
	id := newIdentity(t)
	b := newBackup(filled(t))
	b.Erasures = filepath.Join(t.TempDir(), "erasures")
	if err := os.WriteFile(b.Erasures, []byte(randomLines(10_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	backup := backUp(t, b, id)
	damages := map[string][]byte{}
	for _, n := range []int{0, 1, 100, 300, len(backup) / 3, len(backup) - 65<<10, len(backup) - 16, len(backup) - 1} {
		damages[fmt.Sprintf("cut after %d bytes", n)] = backup[:n]
	}
	for _, n := range []int{5, 250, len(backup) / 2, len(backup) - 1} {
		changed := bytes.Clone(backup)
		changed[n] ^= 4
		damages[fmt.Sprintf("bit of byte %d changed", n)] = changed
	}
	damages["one byte more"] = append(bytes.Clone(backup), 0)
	storetest.Either(t, func(t *testing.T, to string) {
		for name, damaged := range damages {
			if _, err := restore(t, damaged, to, id); !errors.Is(err, dump.ErrDamaged) {
				t.Errorf("%s: got %v, want ErrDamaged", name, err)
			}
		}
		if _, err := restore(t, backup, to, newIdentity(t)); err == nil || !strings.Contains(err.Error(), "no identity opens") {
			t.Errorf("another identity: %v", err)
		}
		if _, err := restore(t, backup, to, id); err != nil {
			t.Errorf("the whole backup after the damaged ones: %v", err)
		}
	})
}

// TestBackupReadsOneState: each transaction writes the same key into two tables, one of which is read long before the other one.
func TestBackupReadsOneState(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, from string) {
		db, err := database.Open(t.Context(), from, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var written atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		write := func(i int64) error {
			return db.Write(ctx, func(tx *database.Tx) error {
				key := fmt.Sprintf("key-%d", i)
				_, err := tx.Exec(ctx, `INSERT INTO blobs (key, coach_id, size, created_at) VALUES ($1, 'c', 1, 1)`, key)
				if err == nil {
					_, err = tx.Exec(ctx, `INSERT INTO erasures (object_id, kind, erased_at) VALUES ($1, 'player', 1)`, key)
				}
				if err == nil && i%3 == 0 {
					_, err = tx.Exec(ctx, `DELETE FROM blobs WHERE key = $1`, fmt.Sprintf("key-%d", i/2))
				}
				if err == nil && i%3 == 0 {
					_, err = tx.Exec(ctx, `DELETE FROM erasures WHERE object_id = $1`, fmt.Sprintf("key-%d", i/2))
				}
				return err
			})
		}
		go func() {
			for i := int64(1); ; i++ {
				if err := write(i); err != nil {
					if ctx.Err() != nil {
						err = nil
					}
					stopped <- err
					return
				}
				written.Add(1)
			}
		}()
		waitFor := func(n int64) {
			for end := time.Now().Add(20 * time.Second); written.Load() < n && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}
		waitFor(50)
		id := newIdentity(t)
		var backups [][]byte
		for range storetest.Rounds(1, 10) {
			b, read := newBackup(from), false
			b.Progress = func(table string, _ int64) {
				if table == "blobs" {
					read = true
					waitFor(written.Load() + 50)
				}
			}
			if backups = append(backups, backUp(t, b, id)); !read {
				t.Fatal("the backup has no row of blobs")
			}
		}
		stop()
		if err := <-stopped; err != nil {
			t.Fatalf("writes failed: %v", err)
		}
		for _, backup := range backups {
			wantOneState(t, backup, id, written.Load())
		}
	})
}

// wantOneState compares the two tables of TestBackupReadsOneState in a backup, which must have fewer keys than were written in the end.
func wantOneState(t *testing.T, backup []byte, id age.Identity, written int64) {
	t.Helper()
	to := storetest.EmptySQLite(t)
	if _, err := restore(t, backup, to, id); err != nil {
		t.Fatal(err)
	}
	restored, err := database.Open(t.Context(), to, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	var keys [2][]string
	for i, query := range []string{`SELECT key FROM blobs ORDER BY key`, `SELECT object_id FROM erasures ORDER BY object_id`} {
		rs, err := restored.Query(t.Context(), query)
		if keys[i], err = database.CollectTexts(rs, err); err != nil {
			t.Fatal(err)
		}
	}
	if len(keys[0]) < 20 || !slices.Equal(keys[0], keys[1]) {
		t.Errorf("%d keys in one table, %d in the other one", len(keys[0]), len(keys[1]))
	}
	if int64(len(keys[0])) >= written {
		t.Errorf("%d keys are in the backup, %d were written", len(keys[0]), written)
	}
}

// TestBackupOfOlderRelease: a backup gets the migrations that it does not have. One of a newer release is refused.
func TestBackupOfOlderRelease(t *testing.T) {
	t.Parallel()
	from, id := storetest.EmptySQLite(t), newIdentity(t)
	older := database.MigrationsUpTo(store.Migrations(), newest(t)-1)
	db, err := database.Open(t.Context(), from, database.Options{Migrations: older})
	if err == nil {
		err = errors.Join(db.Migrate(t.Context()), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	backup := backUp(t, newBackup(from), id)
	if _, err := dump.OpenArchive(bytes.NewReader(backup), 100, id); !errors.Is(err, dump.ErrNewer) {
		t.Errorf("an older program: got %v, want ErrNewer", err)
	}
	storetest.Either(t, func(t *testing.T, _ string) {
		to := storetest.EmptySQLite(t)
		if strings.Contains(t.Name(), "postgres") {
			to = storetest.EmptyPostgres(t)
		}
		if _, err := restore(t, backup, to, id); err != nil {
			t.Fatal(err)
		}
		db, err := database.Open(t.Context(), to, database.Options{Migrations: store.Migrations()})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Migrated(t.Context()), db.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestRestoreRefusesService: a database that a service uses is not migrated.
func TestRestoreRefusesService(t *testing.T) {
	t.Parallel()
	id, to := newIdentity(t), storetest.EmptyPostgres(t)
	backup := backUp(t, newBackup(storetest.SQLite(t)), id)
	service, err := database.Open(t.Context(), to, database.Options{ApplicationName: "touchline", Migrations: store.Migrations()})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	if _, err := restore(t, backup, to, id); !errors.Is(err, dump.ErrRunning) {
		t.Errorf("got %v, want ErrRunning", err)
	}
	if err := service.Migrated(t.Context()); !errors.Is(err, database.ErrNotMigrated) {
		t.Errorf("the database: %v, want ErrNotMigrated", err)
	}
}

// restoreInChild, if set, makes the test binary run a restore that kills itself in a table: file, identity, database, table.
const restoreInChild = "RESTORE_IN_CHILD"

func restoreAndDie(args string) {
	parts := strings.Split(args, "\n")
	err := func() error {
		id, err := age.ParseX25519Identity(parts[1])
		if err != nil {
			return err
		}
		file, err := os.Open(parts[0])
		if err != nil {
			return err
		}
		a, err := dump.OpenArchive(file, 1<<40, id)
		if err != nil {
			return err
		}
		kill := func(at string, _ int64) {
			if at == parts[3] {
				die()
			}
		}
		_, err = a.Restore(context.Background(), dump.Restore{
			To: parts[2], Migrations: store.Migrations(), Progress: kill,
			Erasures: func(r io.Reader) error { kill(killedAtErasures, 0); return discard(r) },
		})
		return err
	}()
	fmt.Println("the restore ended:", err)
	os.Exit(1)
}

// TestKilledRestore: a restore that is killed leaves a database without rows, and works again.
func TestKilledRestore(t *testing.T) {
	t.Parallel()
	id := newIdentity(t)
	backup := backUp(t, newBackup(filled(t)), id)
	file := filepath.Join(t.TempDir(), "backup.age")
	if err := os.WriteFile(file, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, to string) {
		for _, table := range []string{"players", "accounts", "consent_records", "sessions", "webhooks"}[:storetest.Rounds(1, 5)] {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), restoreInChild+"="+strings.Join([]string{file, id.String(), to, table}, "\n"))
			out, err := child.CombinedOutput()
			if status, ok := errors.AsType[*exec.ExitError](err); !ok || status.ExitCode() != -1 {
				t.Fatalf("the restore was not killed: %v %s", err, out)
			}
			db, err := database.Open(t.Context(), to, database.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var accounts int
			err = db.QueryRow(t.Context(), `SELECT count(*) FROM accounts`).Scan(&accounts)
			if err := errors.Join(err, db.Close()); err != nil || accounts != 0 {
				t.Errorf("%d accounts after the kill, %v", accounts, err)
			}
		}
		if _, err := restore(t, backup, to, id); err != nil {
			t.Error(err)
		}
	})
}

// TestLitestreamTables: the tables that Litestream adds to a database are not the service's.
func TestLitestreamTables(t *testing.T) {
	t.Parallel()
	from, id := storetest.SQLite(t), newIdentity(t)
	db, err := sql.Open("sqlite", strings.TrimPrefix(from, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE _litestream_lock (id INTEGER);`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(t, backUp(t, newBackup(from), id), storetest.EmptyPostgres(t), id); err != nil {
		t.Errorf("restore: %v", err)
	}
	if _, err := newCopy(from, storetest.EmptyPostgres(t)).Run(t.Context()); err != nil {
		t.Errorf("copy: %v", err)
	}
}
