//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// playersOfServiceBenchmark is the number of players from which BenchmarkServices chooses.
const playersOfServiceBenchmark = 20_000

// BenchmarkServices asks for the availability of 200 players of 20,000 with one client, and
// reads a page of 200 changes, and measures the time from the request that decides until a
// webhook is at its endpoint. The CPU time is of the process, which includes the client.
//
//	go test ./e2e -run '^$' -bench Services -benchtime 1000x
func BenchmarkServices(b *testing.B) {
	for engine, create := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(engine, func(b *testing.B) {
			s := touchlinetest.New(b, create(b), allowLoopback)
			coach, service := s.Coach(b, coachNumber), s.Operator(b, operator.AvailabilityScope)
			db := openTables(b, s)
			const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) `
			const id = `'0198f2c4-5e00-7b11-8f3a-' || CAST(100000000000 + i AS TEXT)`
			execSQL(b, db, `
				INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at, changes) `+numbers+`
				SELECT `+id+`, CAST($2 AS TEXT), 1, 'n', CAST(i AS TEXT), '2014-01-01', 'n', i, 1 FROM n`, playersOfServiceBenchmark, coach.ID)
			for role, state := range map[string]string{"guardian": "approved", "student": "pending"} {
				execSQL(b, db, `
					INSERT INTO parties (player_id, role, position, coach_id, name, number, state, pending_since) `+numbers+`
					SELECT `+id+`, CAST($3 AS TEXT), 1, CAST($2 AS TEXT), 'g', '+91', CAST($4 AS TEXT), i FROM n`, playersOfServiceBenchmark, coach.ID, role, state)
			}
			execSQL(b, db, `
				INSERT INTO changes (player_id, sequence, type, party, guardian_state, student_state, at) `+numbers+`
				SELECT `+id+`, 1, 'approved', 'guardian', 'approved', 'pending', 1 FROM n`, playersOfServiceBenchmark)
			ids := func() io.Reader {
				all := make([]string, 200)
				for i := range all {
					all[i] = fmt.Sprintf("0198f2c4-5e00-7b11-8f3a-%d", 100_000_000_001+rand.IntN(playersOfServiceBenchmark))
				}
				body, err := json.Marshal(map[string]any{"player_ids": all})
				if err != nil {
					b.Fatal(err)
				}
				return bytes.NewReader(body)
			}
			for service.Call(b, "GET", "/api/services/changes?limit=1", nil).Want(b, 200); ; time.Sleep(10 * time.Millisecond) {
				var waiting int
				if err := db.QueryRow(`SELECT count(*) FROM changes WHERE position IS NULL`).Scan(&waiting); err != nil {
					b.Fatal(err)
				}
				if waiting == 0 {
					break
				}
			}
			b.Run("availability", func(b *testing.B) {
				benchmarkCalls(b, service, "POST", "/api/services/availability/query", ids)
			})
			b.Run("webhook", func(b *testing.B) { benchmarkWebhook(b, s, coach) })
			b.Run("changes", func(b *testing.B) {
				benchmarkCalls(b, service, "GET", "/api/services/changes?limit=200", func() io.Reader { return nil })
			})
		})
	}
}

// benchmarkWebhook reports the time from a request that decides until its webhook arrives.
func benchmarkWebhook(b *testing.B, s *touchlinetest.Service, coach *touchlinetest.User) {
	arrived := make(chan string, 100)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e webhookEvent
		_ = json.Unmarshal(body, &e)
		arrived <- e.Type
	}))
	defer endpoint.Close()
	admin := s.Operator(b, operator.Webhooks)
	created := admin.Call(b, "POST", "/api/admin/webhooks", map[string]any{"url": endpoint.URL, "events": []string{"player.approved", "player.revoked"}}).Want(b, 201)
	defer func() { admin.Call(b, "DELETE", created.Header.Get("Location"), nil).Want(b, 204) }()
	player := coach.AddPlayer(b, child(rand.IntN(1_000_000), guardianNumber)).String("player_id")
	guardian := s.SignIn(b, "guardian", guardianNumber)
	decide := func(action string) {
		guardian.Call(b, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": action}).Want(b, 200)
	}
	time.Sleep(1100 * time.Millisecond) // a poll finds the new webhook
	var took []time.Duration
	for range b.N {
		begun := time.Now()
		decide("approved")
		<-arrived
		took = append(took, time.Since(begun))
		decide("revoked")
		<-arrived
		coach.Call(b, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": player}).Want(b, 201)
	}
	reportLatency(b, took)
}

// reportLatency reports the percentiles of durations.
func reportLatency(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// benchmarkCalls reports the latency of calls that one client makes one after the other.
func benchmarkCalls(b *testing.B, o *touchlinetest.Operator, method, path string, body func() io.Reader) {
	client := &http.Client{}
	defer client.CloseIdleConnections()
	var took []time.Duration
	before := cpuTime(b)
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), method, o.Service.AdminURL+path, body())
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+o.Token)
		begun := time.Now()
		resp, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		took = append(took, time.Since(begun))
		if err != nil || resp.StatusCode != http.StatusOK {
			b.Fatalf("got %d, %v", resp.StatusCode, err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	reportLatency(b, took)
}

// cpuTime returns the CPU time of this process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
