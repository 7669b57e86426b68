package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestLogSurvivesKills: processes are killed in the middle of load, one of two replicas on PostgreSQL, the only one on SQLite.
// There is one log: each acknowledged change has its record, each record one position, and the audit finds nothing.
func TestLogSurvivesKills(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database string) {
		postgres := !strings.HasPrefix(database, "sqlite:")
		settings := []string{"TOUCHLINE_ADDR=127.0.0.1:0", "TOUCHLINE_DATABASE_URL=" + database}
		dir := t.TempDir()
		serve := func() *process {
			t.Helper()
			p := launch(t, dir, []string{"serve"}, settings...)
			p.waitUntilServing()
			return p
		}
		var running []*process
		// signIn returns the access token of a coach. The OTP is on the phones of the replica that sent it.
		signIn := func(p *process, number string) string {
			t.Helper()
			s, body := touchlinetest.At(p.url), object{"mobile_number": number, "role": "coach"}
			s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 202)
			eventually(t, "the coach gets an OTP", func() bool {
				for _, q := range running {
					messages := touchlinetest.At(q.url).Call(t, "GET", "/dev/messages?number="+url.QueryEscape(number), "", nil).Want(t, 200).Items()
					if len(messages) > 0 {
						body["otp"] = messages[0]["code"]
					}
				}
				return body["otp"] != nil
			})
			token := s.Call(t, "POST", "/auth/login", "", body).Want(t, 200).String("access_token")
			s.Call(t, "POST", "/auth/complete-profile", token, object{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
			return token
		}
		var mu sync.Mutex
		var added, removed []string
		var count atomic.Int64
		// load adds and removes players until stop, or until the process is killed.
		load := func(p *process, token string, stop <-chan struct{}, clients *sync.WaitGroup) {
			s := touchlinetest.At(p.url)
			for range 3 {
				clients.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						n := count.Add(1)
						body := touchlinetest.Minor(fmt.Sprintf("+9198123%05d", n), "")
						body["student"].(map[string]any)["full_name"] = "Child " + strings.Repeat("a", int(n%20)) + string(rune('a'+n/20%26)) + string(rune('a'+n/520%26))
						answer, err := s.Do(context.Background(), "POST", "/api/players/add", token, body)
						if err != nil {
							return
						}
						if answer.Status != 201 {
							t.Errorf("add: %d %s", answer.Status, answer.Body)
							return
						}
						id, _ := answer.JSON["player_id"].(string)
						mu.Lock()
						added = append(added, id)
						mu.Unlock()
						if answer, err = s.Do(context.Background(), "DELETE", "/api/players/"+id, token, nil); err != nil {
							return
						}
						if answer.Status == 204 {
							mu.Lock()
							removed = append(removed, id)
							mu.Unlock()
						}
					}
				})
			}
		}
		acknowledged := func(n int) func() bool {
			return func() bool { mu.Lock(); defer mu.Unlock(); return len(removed) >= n }
		}
		rounds := storetest.Rounds(1, 4)
		for round := range rounds {
			running = []*process{serve()}
			if postgres {
				running = append(running, serve())
			}
			stop, clients := make(chan struct{}), sync.WaitGroup{}
			for i, p := range running {
				load(p, signIn(p, fmt.Sprintf("+919812350%d%02d", round, i)), stop, &clients)
			}
			eventually(t, "changes are acknowledged", acknowledged(20+40*round))
			if err := running[0].cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			running[0].wait(waitLimit)
			if postgres {
				eventually(t, "the other replica goes on", acknowledged(40+40*round))
			}
			close(stop)
			clients.Wait()
			for _, p := range running[1:] {
				_ = p.cmd.Process.Kill()
				p.wait(waitLimit)
			}
		}
		running = []*process{serve()}
		db := openSQL(t, database)
		eventually(t, "all records have positions", func() bool {
			return queryOne[int](t, db, `SELECT count(*) FROM consent_records WHERE position IS NULL`) == 0
		})
		records := queryOne[int](t, db, `SELECT count(*) FROM consent_records`)
		if positions := queryOne[int](t, db, `SELECT count(DISTINCT position) FROM consent_records WHERE position >= 0`); positions != records {
			t.Errorf("%d records have %d positions", records, positions)
		}
		if size, last := queryOne[int](t, db, `SELECT size FROM consent_log`), queryOne[int](t, db, `SELECT max(position) FROM consent_records`); size != records || last != records-1 {
			t.Errorf("%d records: the log has %d, the last position is %d", records, size, last)
		}
		for event, ids := range map[string][]string{"asked": added, "removed": removed} {
			for _, id := range ids {
				n := queryOne[int](t, db, `
					SELECT count(*) FROM record_keys k JOIN consent_records r ON r.id = k.record_id
					WHERE k.player_id = $1 AND k.party = 'guardian'`, id)
				if n < map[string]int{"asked": 1, "removed": 2}[event] {
					t.Errorf("player %s was %s, and has %d records", id, event, n)
				}
			}
		}
		audit := launch(t, dir, []string{"audit"}, settings[1:]...)
		if code := audit.wait(waitLimit); code != 0 || !strings.Contains(audit.stdout.String(), fmt.Sprintf("%d records", records)) {
			t.Errorf("audit: exit status %d: %s %s", code, audit.stdout.String(), audit.stderrText())
		}
		t.Logf("%d players were added, %d records", len(added), records)
	})
}
