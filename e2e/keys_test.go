package e2e_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// installation is a service of real processes, whose keys a test rotates.
type installation struct {
	*testing.T
	dir      string
	settings []string
	replicas []*process
}

// command runs a command and returns what it prints.
func (in *installation) command(code int, args ...string) string {
	in.Helper()
	c := launch(in.T, in.dir, args, in.settings...)
	if got := c.wait(waitLimit); got != code {
		in.Fatalf("%v: got exit code %d, want %d: %s", args, got, code, c.stderrText())
	}
	return c.stdout.String() + c.stderrText()
}

// masterKeys returns the ids of the master keys that encrypt the keys.
func (in *installation) masterKeys() (masters, ids []string) {
	in.Helper()
	for line := range strings.Lines(in.command(0, "keys", "list", "--json")) {
		var key struct {
			ID     string `json:"id"`
			Master string `json:"master_key"`
		}
		if err := json.Unmarshal([]byte(line), &key); err != nil {
			in.Fatal(err)
		}
		ids = append(ids, key.ID)
		if !slices.Contains(masters, key.Master) {
			masters = append(masters, key.Master)
		}
	}
	return masters, ids
}

// TestRotateKeys rotates the master key and the signing key while clients call two replicas on PostgreSQL, one
// process on SQLite. No request fails, and everything that was sealed or signed before is still read.
func TestRotateKeys(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		path := func(name string) string { return filepath.Join(dir, name) }
		in := &installation{T: t, dir: dir, settings: append([]string{
			"TOUCHLINE_DATABASE_URL=" + database, "TOUCHLINE_MASTER_KEY_FILE=" + path("master.key"), "TOUCHLINE_DATA_DIR=" + path("data"),
			"TOUCHLINE_ADDR=127.0.0.1:0", "TOUCHLINE_KYC=on",
		}, unlimited...)}
		if err := os.WriteFile(path("master.key"), []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32))), 0o600); err != nil {
			t.Fatal(err)
		}
		start := func() *process {
			p := launch(t, dir, []string{"serve"}, in.settings...)
			p.waitUntilServing()
			return p
		}
		at := func(p *process) *touchlinetest.Service { return touchlinetest.At(p.url) }
		many := !strings.HasPrefix(database, "sqlite:")
		in.replicas = append(in.replicas, start())
		if many {
			in.replicas = append(in.replicas, start())
		}

		first := at(in.replicas[0])
		user := signInAt(t, in.replicas[0], coachNumber)
		coach, refresh := user.Access, user.Refresh
		user.Call(t, "POST", "/auth/complete-profile", object{"name": "Meera Nair", "bio": "Hockey for every child.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		player := user.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		passport := user.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		first.Call(t, "POST", "/api/coach/kyc", coach, object{"legal_name": "Meera Devi Nair", "document_ids": []string{passport}}).Want(t, 201)
		logKey := in.command(0, "admin", "log", "key")

		var calls, failed atomic.Int64
		stop := make(chan struct{})
		var clients sync.WaitGroup
		for i := range 4 {
			clients.Go(func() {
				mine := refresh
				if i > 0 {
					mine = ""
				}
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					s := at(in.replicas[n%len(in.replicas)])
					r, err := s.Do(context.Background(), "GET", "/api/coach/profile", coach, nil)
					if calls.Add(1); err != nil || r.Status != 200 {
						failed.Add(1)
						t.Errorf("GET /api/coach/profile: %v %v", r, err)
						return
					}
					if mine == "" {
						continue
					}
					r, err = s.Do(context.Background(), "POST", "/auth/refresh", "", object{"refresh_token": mine})
					if calls.Add(1); err != nil || r.Status != 200 {
						failed.Add(1)
						t.Errorf("POST /auth/refresh: %v %v", r, err)
						return
					}
					mine = r.String("refresh_token")
					// The other replica accepts the new token at once, whichever key signed it.
					s = at(in.replicas[(n+1)%len(in.replicas)])
					r, err = s.Do(context.Background(), "GET", "/api/coach/profile", r.String("access_token"), nil)
					if calls.Add(1); err != nil || r.Status != 200 {
						failed.Add(1)
						t.Errorf("GET /api/coach/profile with a new token: %v %v", r, err)
						return
					}
				}
			})
		}

		before, ids := in.masterKeys()
		if len(before) != 1 || before[0] == "" || !slices.Contains(ids, "service") {
			t.Fatalf("keys list: %v, %v", before, ids)
		}
		next := path("master.key.new")
		rotate := []string{"keys", "rotate", "--new-file", next, "--yes"}
		if out := in.command(0, rotate...); many != strings.Contains(out, "No key was changed yet") {
			t.Fatal(out)
		}
		if many {
			if got, _ := in.masterKeys(); !slices.Equal(got, before) {
				t.Errorf("the first call changed the master key: %v", got)
			}
			if out := in.command(0, append(rotate, "--dry-run")...); !strings.Contains(out, "would encrypt") {
				t.Error(out)
			}
			in.command(0, rotate...)
		}
		after, _ := in.masterKeys()
		if len(after) != 1 || after[0] == "" || after[0] == before[0] {
			t.Errorf("the master key was %v and is %v", before, after)
		}
		if out := in.command(0, rotate...); !strings.HasPrefix(out, "0 keys") {
			t.Errorf("the second rotation: %s", out)
		}
		eventually(t, "clients call on", callsAfter(&calls, 50))
		in.command(0, "keys", "rotate-signing")
		if _, now := in.masterKeys(); len(now) != len(ids)+1 {
			t.Errorf("the keys were %v and are %v", ids, now)
		}
		for _, p := range in.replicas {
			eventually(t, "each replica publishes both keys", func() bool {
				r, err := at(p).Do(context.Background(), "GET", "/.well-known/jwks.json", "", nil)
				return err == nil && len(r.JSON["keys"].([]any)) == 2
			})
		}
		eventually(t, "clients call on", callsAfter(&calls, 50))
		close(stop)
		clients.Wait()
		t.Logf("%d calls during the rotations, %d failed", calls.Load(), failed.Load())

		// The new key becomes the master key, and the replicas start again.
		if err := os.Rename(path("master.key"), path("old.key")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, path("master.key")); err != nil {
			t.Fatal(err)
		}
		for i, p := range in.replicas {
			p.interrupt()
			if code := p.wait(waitLimit); code != 0 {
				t.Errorf("got exit code %d: %s", code, p.stderrText())
			}
			in.replicas[i] = start()
		}
		s := at(in.replicas[0])
		s.Call(t, "GET", "/api/coach/profile", coach, nil).Want(t, 200)
		s.Call(t, "GET", "/api/players/"+player, coach, nil).Want(t, 200)
		if kyc := s.Call(t, "GET", "/api/coach/kyc", coach, nil).Want(t, 200); kyc.String("legal_name") != "Meera Devi Nair" {
			t.Errorf("KYC: %s", kyc.Body)
		}
		s.Call(t, "GET", "/api/coach/documents/"+passport+"/content", coach, nil).Want(t, 200)
		if got := in.command(0, "admin", "log", "key"); publicPart(got) != publicPart(logKey) {
			t.Errorf("the key of the log was %s and is %s", logKey, got)
		}
		for _, p := range in.replicas {
			p.interrupt()
			p.wait(waitLimit)
		}
		old := launch(t, dir, []string{"serve"}, append(slices.Clone(in.settings), "TOUCHLINE_MASTER_KEY_FILE="+path("old.key"))...)
		if code := old.wait(waitLimit); code != 1 || !strings.Contains(old.stderrText(), "wrong master key") {
			t.Errorf("the previous master key: got exit code %d: %s", code, old.stderrText())
		}
	})
}

// TestRotateMasterKeyKilled: after a kill at any moment all keys have one master key, and the next call ends
// the rotation.
func TestRotateMasterKeyKilled(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		in := &installation{T: t, dir: dir, settings: []string{"TOUCHLINE_DATABASE_URL=" + database, "TOUCHLINE_ADDR=127.0.0.1:0"}}
		p := launch(t, dir, []string{"serve"}, in.settings...)
		p.waitUntilServing()
		current := filepath.Join(dir, "touchline-data", "master.key")
		base := in.settings
		for i := range 8 {
			next := filepath.Join(dir, fmt.Sprint("key", i))
			key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(i + 1)}, 32))
			if err := os.WriteFile(next, []byte(key), 0o600); err != nil {
				t.Fatal(err)
			}
			in.settings = append(slices.Clone(base), "TOUCHLINE_MASTER_KEY_FILE="+current, "TOUCHLINE_MASTER_KEY_NEW_FILE="+next)
			rotate := []string{"keys", "rotate", "--new-file", next, "--yes"}
			c := launch(t, dir, rotate, in.settings...)
			time.Sleep(time.Duration(i) * 10 * time.Millisecond) // each kill hits another step, whichever it is
			_ = c.cmd.Process.Kill()
			<-c.done
			if masters, _ := in.masterKeys(); len(masters) != 1 || masters[0] == "" {
				t.Fatalf("kill %d: master keys %v", i, masters)
			}
			in.command(0, rotate...)
			if out := in.command(0, rotate...); !strings.HasPrefix(out, "0 keys") {
				t.Error(out)
			}
			current = next
		}
		if status, _, body := p.get("/readyz"); status != 200 {
			t.Errorf("/readyz: %d %s", status, body)
		}
	})
}

// publicPart returns the public key in the text of a key of the log, whose name has the address of the service.
func publicPart(key string) string { return key[strings.LastIndex(key, "+")+1:] }

// signInAt signs number in at a process that prints SMS.
func signInAt(t *testing.T, p *process, number string) *touchlinetest.User {
	t.Helper()
	s := touchlinetest.At(p.url)
	s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": number}).Want(t, 202)
	eventually(t, "the code is printed", func() bool { return codePrinted.MatchString(p.stdout.String()) })
	otp := codePrinted.FindStringSubmatch(p.stdout.String())[1]
	login := s.Call(t, "POST", "/auth/login", "", object{"mobile_number": number, "otp": otp}).Want(t, 200)
	return &touchlinetest.User{Service: s, Number: number, Role: "coach", Access: login.String("access_token"), Refresh: login.String("refresh_token"), Device: login.String("device_token")}
}

// callsAfter returns a function that reports whether n more calls were made.
func callsAfter(calls *atomic.Int64, n int64) func() bool {
	from := calls.Load()
	return func() bool { return calls.Load() >= from+n }
}
