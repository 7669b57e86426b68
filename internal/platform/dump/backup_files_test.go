package dump_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestFilesOfBackup: a file that was deleted after the snapshot is no error; one that is missing is named.
func TestFilesOfBackup(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, from string) {
		files, id := folder(t), newIdentity(t)
		db, err := database.Open(t.Context(), from, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for key, content := range map[string]string{"there": "abc", "there/small": "", "missing": "", "deleted": "x", "ended": ""} {
			if key != "missing" && key != "ended" {
				if err := files.Put(t.Context(), key, strings.NewReader(content), int64(len(content)), ""); err != nil {
					t.Fatal(err)
				}
			}
			ends := any(nil)
			if key == "ended" {
				ends = 1
			}
			if _, err := db.Exec(t.Context(), `INSERT INTO blobs (key, coach_id, size, created_at, ends_at) VALUES ($1, 'c', $2, 1, $3)`, key, len(content), ends); err != nil {
				t.Fatal(err)
			}
		}
		ledger := filepath.Join(t.TempDir(), "erasures")
		if err := os.WriteFile(ledger, []byte("one line\nhalf a li"), 0o600); err != nil {
			t.Fatal(err)
		}
		b := newBackup(from)
		b.Files, b.Erasures = files, ledger
		b.Progress = func(table string, _ int64) {
			if table != "blobs" {
				return
			}
			_, err := db.Exec(t.Context(), `DELETE FROM blobs WHERE key = 'deleted'`)
			if err = errors.Join(err, files.Delete(t.Context(), "deleted")); err != nil {
				t.Error(err)
			}
		}
		var out bytes.Buffer
		written, err := b.Write(t.Context(), &out, id.Recipient())
		if err != nil {
			t.Fatal(err)
		}
		want := dump.Files{Count: 2, Bytes: 3, Missing: []string{"missing"}, Deleted: 1}
		if diff := cmp.Diff(want, written.Files); diff != "" {
			t.Error(diff)
		}
		a, err := dump.OpenArchive(&out, newest(t), id)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		to, lines := folder(t), ""
		c, err := a.Restore(t.Context(), dump.Restore{
			To: storetest.EmptySQLite(t), Migrations: store.Migrations(), Files: to,
			Erasures: func(r io.Reader) error {
				text, err := io.ReadAll(r)
				lines = string(text)
				return err
			},
		})
		if err != nil || lines != "one line\n" {
			t.Fatalf("erasures %q, %v", lines, err)
		}
		if diff := cmp.Diff(written, c); diff != "" {
			t.Error(diff)
		}
		r, size, err := to.Open(t.Context(), "there")
		if err != nil || size != 3 {
			t.Fatalf("the file has %d bytes, %v", size, err)
		}
		r.Close()
	})
}

// TestBackupNeedsItsFileStore: a backup without the files of the database is not made, for example because their disk is not mounted.
func TestBackupNeedsItsFileStore(t *testing.T) {
	t.Parallel()
	const own = "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21\n"
	storetest.Either(t, func(t *testing.T, from string) {
		db, err := database.Open(t.Context(), from, database.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(t.Context(), `INSERT INTO installation (name, value) VALUES ('files', $1)`, strings.TrimSpace(own))
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		b, id := newBackup(from), newIdentity(t)
		b.Files = folder(t)
		if _, err := b.Write(t.Context(), io.Discard, id.Recipient()); err == nil || !strings.Contains(err.Error(), "the volume is not mounted") {
			t.Errorf("with an empty folder: %v", err)
		}
		if err := b.Files.Put(t.Context(), "touchline-store", strings.NewReader(own), int64(len(own)), ""); err != nil {
			t.Fatal(err)
		}
		backUp(t, b, id)
	})
}

// watchedStore calls opened before it opens a file.
type watchedStore struct {
	blob.Store
	opened func()
}

func (w watchedStore) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	w.opened()
	return w.Store.Open(ctx, key)
}

// TestBackupOfFilesHoldsNoTransaction: while files are read, SQLite can empty its log of writes.
func TestBackupOfFilesHoldsNoTransaction(t *testing.T) {
	t.Parallel()
	from := storetest.SQLite(t)
	db, err := sql.Open("sqlite", strings.TrimPrefix(from, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b, watched := newBackup(from), false
	b.Files = watchedStore{folder(t), func() {
		watched = true
		_, err := db.ExecContext(t.Context(), `INSERT INTO installation (name, value) VALUES ('written', '')`)
		var busy, log, done int
		err = errors.Join(err, db.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &done))
		if err != nil || busy != 0 {
			t.Errorf("the log of writes is in use: %d, %v", busy, err)
		}
	}}
	if backUp(t, b, newIdentity(t)); !watched {
		t.Error("no file was opened")
	}
}
