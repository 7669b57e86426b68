package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkErasure erases 5,000 players, each with 20 marks, 10 notifications, 4 deliveries and 4 records, while another
// client writes a row each 5 ms. It reports how long these writes take, and how long a player takes.
func BenchmarkErasure(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { erasing(b, newFixture(b, storetest.SQLite(b))) })
	b.Run("postgres", func(b *testing.B) { erasing(b, newFixture(b, storetest.Postgres(b))) })
}

func erasing(b *testing.B, p *fixture) {
	const players = 5000
	by := p.coach(1)
	batch := p.addBatch(by)
	for range b.N {
		b.StopTimer()
		prefix := p.db.NewID()
		fill := func(query string, args ...any) { ok(b, run(p.db, query, append([]any{prefix, players}, args...)...)) }
		for _, role := range []string{"guardian", "student"} {
			fill(`INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) `+numbers+`
				SELECT CAST($1 AS TEXT) || CAST($3 AS TEXT) || i, CAST($1 AS TEXT) || CAST($3 AS TEXT) || i, CAST($3 AS TEXT), 1, 1 FROM n`, role)
		}
		fill(`INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at, deleted_at) `+numbers+`
			SELECT CAST($1 AS TEXT) || i, $3, 1, 'Asha Rao', CAST(i AS TEXT), '2014-01-01', 'asha rao', 1, 1 FROM n`, by.AccountID)
		for _, role := range []string{"guardian", "student"} {
			fill(`INSERT INTO parties (player_id, role, position, coach_id, name, number, account_id, state, pending_since, deleted_at) `+numbers+`
				SELECT CAST($1 AS TEXT) || i, CAST($4 AS TEXT), 1, $3, 'Ravi Rao', '+91', CAST($1 AS TEXT) || CAST($4 AS TEXT) || i, 'approved', i, 1 FROM n`, by.AccountID, role)
		}
		for _, role := range []string{"guardian", "student"} {
			fill(`INSERT INTO requests (id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed, student_key) `+numbers+`
				SELECT CAST($1 AS TEXT) || CAST($4 AS TEXT) || 'r' || i, CAST($1 AS TEXT) || i, $3, CAST($4 AS TEXT), CAST($1 AS TEXT) || CAST($4 AS TEXT) || i, 'approved', 'sms', 1, 1, FALSE, 'asha' FROM n`, by.AccountID, role)
			fill(`INSERT INTO approval_history (id, player_id, approver_type, approver_id, action, reason, decided_at) `+numbers+`
				SELECT CAST($1 AS TEXT) || CAST($3 AS TEXT) || 'h' || i, CAST($1 AS TEXT) || i, CAST($3 AS TEXT), CAST($1 AS TEXT) || CAST($3 AS TEXT) || i, 'approved', 'because', 1 FROM n`, role)
			for _, k := range []string{"1", "2"} {
				fill(`INSERT INTO deliveries (id, kind, channel, state, recipient, role, request_id, attempts, due_at, gives_up_at, created_at, updated_at) `+numbers+`
					SELECT CAST($1 AS TEXT) || CAST($3 AS TEXT) || CAST($4 AS TEXT) || i, 'request', 'sms', 'delivered', '+91', CAST($3 AS TEXT), CAST($1 AS TEXT) || CAST($3 AS TEXT) || 'r' || i, 1, 1, 1, 1, $5 FROM n`,
					role, k, p.clock.Now().UnixMicro())
				fill(`INSERT INTO record_keys (record_id, player_id, party, account_id, version, sealed) `+numbers+`
					SELECT CAST($1 AS TEXT) || CAST($3 AS TEXT) || CAST($4 AS TEXT) || 'k' || i, CAST($1 AS TEXT) || i, CAST($3 AS TEXT), CAST($1 AS TEXT) || CAST($3 AS TEXT) || i, 1, $5 FROM n`, role, k, make([]byte, 400))
			}
		}
		for k := range 20 {
			if k < 10 {
				fill(`INSERT INTO notifications (account_id, seq, id, type, title, body, data, player_id, created_at) `+numbers+`
					SELECT CAST($1 AS TEXT) || 'guardian' || i, $3, CAST($1 AS TEXT) || 'n' || CAST($3 AS TEXT) || '-' || i, 'team_message', 'A message', 'Asha Rao comes to the training', '{}', CAST($1 AS TEXT) || i, $4 FROM n`,
					k, p.clock.Now().UnixMicro())
			}
			fill(`INSERT INTO attendance_marks (coach_id, batch_id, date, player_id, mark, note, marked_at, recorded_at, account_id) `+numbers+`
				SELECT CAST($3 AS TEXT), CAST($4 AS TEXT), $5, CAST($1 AS TEXT) || i, 'late', 'Was ill', 1, 1, CAST($3 AS TEXT) FROM n`,
				by.AccountID, batch, p.clock.Now().AddDate(0, 0, -k).Format(time.DateOnly))
		}
		if p.postgres {
			ok(b, run(p.db, `ANALYZE`))
		}
		write := func() time.Duration {
			start := time.Now()
			ok(b, run(p.db, `INSERT INTO told_phones (hash, told_at) VALUES ($1, $2)`, []byte(p.db.NewID()), start.UnixMicro()))
			return time.Since(start)
		}
		measure := func(unit string, stop func() bool) {
			var all []time.Duration
			for !stop() {
				all = append(all, write())
				time.Sleep(5 * time.Millisecond)
			}
			slices.Sort(all)
			for _, quantile := range []struct {
				name  string
				share float64
			}{{"p50", 0.5}, {"p99", 0.99}, {"max", 1}} {
				at := all[min(int(quantile.share*float64(len(all))), len(all)-1)]
				b.ReportMetric(float64(at.Microseconds())/1000, unit+"-"+quantile.name+"-ms")
			}
		}
		alone := time.Now()
		measure("alone", func() bool { return time.Since(alone) > 5*time.Second })
		b.StartTimer()
		start := time.Now()
		done := make(chan error, 1)
		go func() { done <- second(retained.BeforeSweep(bg, p.db, p.clock.Now())) }()
		measure("beside", func() bool {
			select {
			case err := <-done:
				ok(b, err)
				return true
			default:
				return false
			}
		})
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000/players, "ms/player")
		b.StopTimer()
		if n := p.count(`SELECT count(*) FROM players WHERE erased_at IS NULL`); n != 0 {
			b.Fatalf("%d players are left", n)
		}
		b.StartTimer()
	}
}
