package e2e_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestBackup backs up a service under load, verifies the backup and restores it into the other engine. Sessions, files and the
// log of consents live on, and what was erased after the backup is erased again.
func TestBackup(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
		passport := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		erased, family := plantFamily(t, s, coach)
		logName(t, s)
		s.Gateway.Behave(smstest.Behaviour{Status: 503})
		const waits = "+919812300077" // its SMS is in the queue
		coach.AddPlayer(t, child(77, waits))

		id, backup := backUpUnderLoad(t, s, coach)

		people(t, s, func(ctx context.Context, _ actor.Operator, p *server.People) error {
			if err := p.ErasePlayer(ctx, erased, nil); err != nil {
				return err
			}
			return p.Ledger.Append(ctx)
		})
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		s.Gateway.Behave(smstest.Behaviour{})
		attempts := s.Gateway.Attempts()
		s.Clock.Advance(6 * time.Minute) // the queued SMS is due: the pause between two attempts is 5 minutes at most
		a := openBackup(t, backup, id)
		options := server.Options{Now: s.Clock.Now, NewTicker: s.Clock.NewTicker}
		v, err := server.VerifyBackup(t.Context(), s.Config, options, a)
		if err != nil || len(v.Findings) > 0 || v.Audit.Players == 0 || v.Audit.Records == 0 || v.Contents.Files.Count != 2 {
			t.Fatalf("verified %+v, %v", v, err)
		}
		otherKey := *s.Config
		otherKey.MasterKeyBase64 = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE="
		v, err = server.VerifyBackup(t.Context(), &otherKey, options, openBackup(t, backup, id))
		if err != nil || len(v.Findings) != 1 || !strings.Contains(v.Findings[0], "the service does not start on the copy") {
			t.Errorf("with another master key: findings %q, %v", v.Findings, err)
		}
		time.Sleep(settleTime)
		if n := s.Gateway.Attempts(); n != attempts {
			t.Errorf("the verification sent %d messages", n-attempts)
		}

		to := storetest.EmptyPostgres(t)
		if !strings.HasPrefix(s.Config.DatabaseURL.Reveal(), "sqlite:") {
			to = storetest.EmptySQLite(t)
		}
		move := func(c *config.Config) {
			c.DatabaseURL, c.Files, c.PublicURL = config.SecretURL(to), config.SecretURL("file:"+t.TempDir()), s.Config.PublicURL
		}
		cfg := *s.Config
		move(&cfg)
		ledger := ledgerOf(t, s)
		if _, err := server.Restore(t.Context(), &cfg, openBackup(t, backup, id), nil); err != nil {
			t.Fatal(err)
		}
		if n := len(ledgerOf(t, s)); n != len(ledger) || n == 0 {
			t.Errorf("ERASURES has %d lines, had %d", n, len(ledger))
		}
		r := s.Replica(func(c *config.Config) {
			c.DatabaseURL, c.Files, c.PublicURL = cfg.DatabaseURL, cfg.Files, cfg.PublicURL
		})
		for _, u := range []*touchlinetest.User{coach, guardian} {
			u.Service = r
			u.Call(t, "GET", "/auth/sessions", nil).Want(t, 200)
			refresh(t, r, u.Refresh).Want(t, 200)
		}
		if got := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200); got.String("guardian_state") != "approved" || got.String("student.has_medical_information") != "true" {
			t.Errorf("player: got %s", got.Body)
		}
		coach.Call(t, "GET", "/api/coach/documents/"+passport+"/content", nil).Want(t, 200)
		coach.Call(t, "GET", "/api/players/"+erased, nil).Want(t, 404)
		family.On(r).Call(t, "GET", "/api/me", nil).Want(t, 401)
		r.SMS(waits, "message", 0) // the verification could have sent it
	}, withLedger, noMessageLimits)
}

// backUpUnderLoad adds players during a backup, and returns the backup with its key.
func backUpUnderLoad(t *testing.T, s *touchlinetest.Service, coach *touchlinetest.User) (*age.X25519Identity, []byte) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	added := make(chan struct{}, 1000)
	wait.Go(func() {
		for i := 100; ctx.Err() == nil; i++ {
			if a, err := s.Do(t.Context(), "POST", "/api/players/add", coach.Access, child(i, guardianNumber)); err != nil || a.Status != 201 {
				t.Errorf("player %d: %v, %v", i, err, a)
				return
			}
			added <- struct{}{}
		}
	})
	<-added
	var out bytes.Buffer
	_, err = server.Backup(t.Context(), s.Config, server.Options{}, &out, func(table string, _ int64) {
		if table == "players" {
			for range 3 {
				<-added
			}
		}
	}, id.Recipient())
	stop()
	wait.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return id, out.Bytes()
}

func openBackup(t *testing.T, backup []byte, id age.Identity) *dump.Archive {
	t.Helper()
	a, err := server.OpenBackup(bytes.NewReader(backup), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// TestRestoreNeedsLedger: the file ERASURES of a backup is not lost, and never gets shorter.
func TestRestoreNeedsLedger(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.EmptySQLite(t), withLedger)
	const one, two = "2026-03-02T09:15:00Z player 00000000-0000-7000-8000-000000000001\n", "2026-03-02T09:15:00Z player 00000000-0000-7000-8000-000000000002\n"
	if err := os.WriteFile(s.Config.Erasures, []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var backup bytes.Buffer
	if _, err := server.Backup(t.Context(), s.Config, server.Options{}, &backup, nil, id.Recipient()); err != nil {
		t.Fatal(err)
	}
	cfg := *s.Config
	cfg.DatabaseURL, cfg.Files, cfg.Erasures = config.SecretURL(storetest.EmptySQLite(t)), config.SecretURL("file:"+t.TempDir()), ""
	if _, err := server.Restore(t.Context(), &cfg, openBackup(t, backup.Bytes(), id), nil); err == nil || !strings.Contains(err.Error(), "set ERASURES") {
		t.Errorf("without ERASURES: %v", err)
	}
	cfg.Erasures = filepath.Join(t.TempDir(), "newer")
	if err := os.WriteFile(cfg.Erasures, []byte(two+"2026-03-02T09:1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Restore(t.Context(), &cfg, openBackup(t, backup.Bytes(), id), nil); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(cfg.Erasures)
	if want := two + "2026-03-02T09:1\n" + one; err != nil || string(content) != want {
		t.Errorf("got %q, want %q, %v", content, want, err)
	}
}

// TestSilentReplicaSendsNothing: a silent replica does not send what is due. Another one does.
func TestSilentReplicaSendsNothing(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		silent := false
		s := touchlinetest.NewWith(t, url, func(o *server.Options) { o.Silent = silent; o.Terminal = io.Discard })
		coach := s.Coach(t, coachNumber)
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		silent = true
		r := s.Replica()
		coach.On(r).AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		before := s.Gateway.Attempts()
		s.Clock.Pass(quietPeriod)
		time.Sleep(settleTime)
		if n := s.Gateway.Attempts(); n != before {
			t.Errorf("the silent replica sent %d messages", n-before)
		}
		silent = false
		s.Replica().SMS(guardianNumber, "message", 0)
	})
}

// TestVerifyFindsBadFiles: a verification names a file that is missing in the file store, and one that was changed there.
func TestVerifyFindsBadFiles(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.EmptySQLite(t))
	coach := s.Coach(t, coachNumber)
	var ids []string
	for i := range 3 {
		ids = append(ids, coach.Upload(t, "certification", "c.pdf", touchlinetest.PDF(500, i), "issuer", "Red Cross").Want(t, 201).String("document_id"))
	}
	db := openTables(t, s)
	var keys []string
	for _, id := range ids {
		keys = append(keys, queryOne[string](t, db, `SELECT blob FROM documents WHERE id = $1`, id))
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	files, err := blob.Open(t.Context(), s.Config.Files.Reveal(), blob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if err := files.Delete(t.Context(), keys[0]); err != nil {
		t.Fatal(err)
	}
	if err := files.Put(t.Context(), keys[1], strings.NewReader("x"), 1, ""); err != nil {
		t.Fatal(err)
	}
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var backup bytes.Buffer
	c, err := server.Backup(t.Context(), s.Config, server.Options{}, &backup, nil, id.Recipient())
	if err != nil || !slices.Equal(c.Files.Missing, keys[:1]) {
		t.Fatalf("missing %v, %v", c.Files.Missing, err)
	}
	v, err := server.VerifyBackup(t.Context(), s.Config, server.Options{Now: s.Clock.Now}, openBackup(t, backup.Bytes(), id))
	want := []string{"the file " + keys[0] + " was missing in the file store", "the file of the document " + ids[1] + " differs from what was uploaded"}
	if err != nil || !slices.Equal(v.Findings, want) {
		t.Errorf("got %q, want %q, %v", v.Findings, want, err)
	}
}
