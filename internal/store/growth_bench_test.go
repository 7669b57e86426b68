package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkGrowth times the most frequent reads on tables of a thousand and of two
// hundred thousand rows, all of one coach. No time may grow with the table.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{1_000, 200_000} {
		b.Run(fmt.Sprint("sqlite/", n), func(b *testing.B) { benchmarkReads(b, newFixture(b, storetest.SQLite(b)), n) })
		b.Run(fmt.Sprint("postgres/", n), func(b *testing.B) { benchmarkReads(b, newFixture(b, storetest.Postgres(b)), n) })
	}
}

func benchmarkReads(b *testing.B, p *fixture, n int) {
	coach := p.coach(1)
	ok(b, run(p.db, `
		INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
		VALUES ('session', $1, 'coach', '+91', 'd', 1, $2, 1, 1, 1, 1)`, coach.AccountID, []byte{1}))
	ok(b, run(p.db, `
		INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at) `+numbers+`
		SELECT CAST(1000000 + i AS TEXT), CAST($1 AS TEXT), 1, 'n', CAST(i AS TEXT), '2014-01-01', 'n', i FROM n`, coach.AccountID, n))
	for _, role := range []string{"guardian", "student"} {
		ok(b, run(p.db, `
			INSERT INTO parties (player_id, role, position, coach_id, name, number, state, pending_since) `+numbers+`
			SELECT CAST(1000000 + i AS TEXT), CAST($3 AS TEXT), 1, CAST($1 AS TEXT), 'g', '+91', 'pending', i FROM n`, coach.AccountID, n, role))
	}
	ok(b, run(p.db, `
		INSERT INTO notifications (account_id, seq, id, type, title, body, data, created_at) `+numbers+`
		SELECT CAST($1 AS TEXT), i, CAST(i AS TEXT), 'k', 't', 'b', '{}', i FROM n`, coach.AccountID, n))
	if p.postgres {
		ok(b, run(p.db, `ANALYZE players`))
		ok(b, run(p.db, `ANALYZE parties`))
		ok(b, run(p.db, `ANALYZE notifications`))
	}
	middle := fmt.Sprint(1_000_000 + n/2)
	for _, read := range []struct {
		name string
		run  func() error
	}{
		{"availability", func() error { _, err := player.ReadConsentStatus(bg, p.db, coach, middle); return err }},
		{"pending", func() error {
			_, err := p.Pending(bg, coach, approval.Page{Limit: 51, After: approval.Keyset{At: time.UnixMicro(int64(n / 2)), ID: middle, Party: actor.Student}})
			return err
		}},
		{"notifications", func() error { _, err := p.notices().List(bg, coach, true, int64(n/2), 51); return err }},
		{"players", func() error {
			_, err := p.Players(bg, coach, approval.Filter{}, approval.Page{Limit: 51, After: approval.Keyset{ID: middle}})
			return err
		}},
	} {
		b.Run(read.name, func(b *testing.B) {
			for b.Loop() {
				ok(b, read.run())
			}
		})
	}
}
