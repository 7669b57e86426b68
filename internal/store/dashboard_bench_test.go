package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkDashboard times the dashboard of a coach with a thousand players, one third
// each pending, rejected and disputed. The database has no other players, or two hundred
// thousand of other coaches.
func BenchmarkDashboard(b *testing.B) {
	for _, others := range []int{0, 200_000} {
		b.Run(fmt.Sprint("sqlite/", others), func(b *testing.B) { benchmarkDashboard(b, newFixture(b, storetest.SQLite(b)), others) })
		b.Run(fmt.Sprint("postgres/", others), func(b *testing.B) { benchmarkDashboard(b, newFixture(b, storetest.Postgres(b)), others) })
	}
}

func benchmarkDashboard(b *testing.B, p *fixture, others int) {
	coach := p.coach(1)
	const own = 1000
	requestedAt := p.clock.Now().Add(-100 * time.Hour).UnixMicro()
	fill := func(coachID, owner string, n int) {
		ok(b, run(p.db, `
			INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at) `+numbers+`
			SELECT CAST($1 AS TEXT) || i, `+owner+`, 1, 'n', CAST(i AS TEXT), '2014-01-01', 'n', i FROM n`, coachID, n))
		ok(b, run(p.db, `
			INSERT INTO parties (player_id, role, position, coach_id, name, number, state, changed_at, pending_since, request_id) `+numbers+`
			SELECT CAST($1 AS TEXT) || i, 'guardian', 1, `+owner+`, 'g', '+91', CASE i % 3 WHEN 0 THEN 'rejected' ELSE 'pending' END, i, i, CAST($1 AS TEXT) || i FROM n`, coachID, n))
		ok(b, run(p.db, `
			INSERT INTO parties (player_id, role, position, coach_id, state, pending_since) `+numbers+`
			SELECT CAST($1 AS TEXT) || i, 'student', 1, `+owner+`, 'pending', i FROM n`, coachID, n))
		ok(b, run(p.db, `
			INSERT INTO requests (id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed, closed_at) `+numbers+`
			SELECT CAST($1 AS TEXT) || i, CAST($1 AS TEXT) || i, `+owner+`, 'guardian', CAST($4 AS TEXT),
				CASE i % 3 WHEN 0 THEN 'rejected' WHEN 1 THEN 'pending' ELSE 'disputed' END, 'sms', CAST($3 AS BIGINT) + i, CAST($3 AS BIGINT) + i, i % 2 = 0,
				CASE i % 3 WHEN 1 THEN NULL ELSE CAST($3 AS BIGINT) + i + 1 END FROM n`, coachID, n, requestedAt, coach.AccountID))
	}
	fill(coach.AccountID, `CAST($1 AS TEXT)`, own)
	const batch = 10_000 // fits the time limit of a transaction on a busy machine
	for i := range others / batch {
		id := fmt.Sprint("other", i, "-")
		ok(b, run(p.db, `INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) `+numbers+`
			SELECT CAST($1 AS TEXT) || i, CAST($1 AS TEXT) || i, 'coach', 0, i FROM n`, id, 10))
		fill(id, `CAST($1 AS TEXT) || (1 + i % 10)`, batch)
	}
	if p.postgres {
		ok(b, run(p.db, `ANALYZE`))
	}
	for b.Loop() {
		_, err := p.coaches().Dashboard(bg, coach.AccountID, p.clock.Now())
		ok(b, err)
	}
}
