package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestMoveKilled kills touchline copy and touchline restore at moments from the start to the end. After each kill no service starts on
// the target, unless nothing was written or everything. The same command then ends the move.
func TestMoveKilled(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		from, dir := s.Config.DatabaseURL.Reveal(), t.TempDir()
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		var backup bytes.Buffer
		if _, err := server.Backup(t.Context(), s.Config, server.Options{}, &backup, nil, id.Recipient()); err != nil {
			t.Fatal(err)
		}
		file, identity := filepath.Join(dir, "backup.age"), filepath.Join(dir, "backup.key")
		if err := errors.Join(os.WriteFile(file, backup.Bytes(), 0o600), os.WriteFile(identity, []byte(id.String()+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		move := func(args []string, settings ...string) time.Duration {
			p, start := launch(t, dir, args, settings...), time.Now()
			if code := p.wait(waitLimit); code != 0 {
				t.Fatalf("%v: exit status %d: %s", args, code, p.stderrText())
			}
			return time.Since(start)
		}
		targets := []func(testing.TB) string{storetest.EmptyPostgres, storetest.EmptySQLite}
		if !strings.HasPrefix(from, "sqlite:") {
			slices.Reverse(targets)
		}
		for _, empty := range targets[:storetest.Rounds(1, 2)] { // the other engine first
			for _, command := range []string{"copy", "restore"} {
				args := func(to string) ([]string, []string) {
					settings := []string{"TOUCHLINE_DATABASE_URL=" + to, "TOUCHLINE_DATA_DIR=" + filepath.Join(dir, "data"), "TOUCHLINE_FILES=file:" + filepath.Join(dir, "files"), "TOUCHLINE_ADDR=127.0.0.1:0"}
					if command == "copy" {
						return []string{"copy", "--from", from, "--to", to}, settings
					}
					return []string{"restore", file, "--identity", identity, "--yes"}, settings
				}
				arguments, settings := args(empty(t))
				whole := move(arguments, settings...)
				refused := 0
				to := ""
				kills := storetest.Rounds(4, 30)
				// A busy machine can move kills out of the time of the copy.
				for i := 0; i < kills || refused == 0 && i < 5*kills; i++ {
					to = empty(t)
					arguments, settings := args(to)
					p := launch(t, dir, arguments, settings...)
					time.Sleep(whole * time.Duration(i%kills+1) / time.Duration(kills+1))
					_ = p.cmd.Process.Kill()
					<-p.done
					if unfinished(t, to, player) {
						refused++
						serve := launch(t, dir, []string{"serve"}, settings...)
						if code := serve.wait(waitLimit); code != 1 || !strings.Contains(serve.stderrText(), `run "touchline `+command+`" again with the same arguments`) {
							t.Errorf("%s, kill %d: serve ended with %d: %s", command, i, code, serve.stderrText())
						}
						move(arguments, settings...)
					}
				}
				if refused == 0 {
					t.Errorf("%s into %s: of %d kills none was between the first table and the end", command, database.Label(to), 5*kills)
				}
				if unfinished(t, to, player) {
					t.Errorf("%s into %s is not complete", command, database.Label(to))
				}
			}
		}
	})
}

// unfinished reports whether a database is the target of a move that was cut off. It fails if no mark says so and the database has
// tables and not all rows.
func unfinished(t *testing.T, url, player string) bool {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if dump.CheckComplete(t.Context(), db) != nil {
		return true
	}
	var there bool
	err = db.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM players WHERE id = $1)`, player).Scan(&there)
	if database.IsNoSuchTable(err) {
		if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM installation)`).Scan(&there); !database.IsNoSuchTable(err) {
			t.Errorf("%s has tables and no mark: %v", database.Label(url), err)
		}
		return false
	}
	if err != nil || !there {
		t.Errorf("%s has no mark and not all rows: %v", database.Label(url), err)
	}
	return false
}
