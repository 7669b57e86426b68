package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkPlanning times a decision and a new question, with their notifications and
// deliveries, and a sign-in with its OTP, while few and many deliveries wait. The times must not
// grow.
//
//	go test ./internal/store -run '^$' -bench Planning -benchtime 300x
func BenchmarkPlanning(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint("sqlite/", n), func(b *testing.B) { benchmarkPlanning(b, newFixture(b, storetest.SQLite(b)), n) })
		b.Run(fmt.Sprint("postgres/", n), func(b *testing.B) { benchmarkPlanning(b, newFixture(b, storetest.Postgres(b)), n) })
	}
}

func benchmarkPlanning(b *testing.B, p *fixture, n int) {
	coach := p.coach(1)
	player := p.add(coach, "Asha Rao", number(2), "")
	guardian := p.as(actor.Guardian, number(2))
	const batch = 1_000 // a write takes at most 10 s
	for first := 1; first <= n; first += batch {
		ok(b, run(p.db, `
			INSERT INTO deliveries (id, kind, channel, state, coach_id, recipient, role, attempts, due_at, gives_up_at, created_at, updated_at)
			WITH RECURSIVE n (i) AS (SELECT CAST($2 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $3)
			SELECT 'v' || CAST(i AS TEXT), 'request', 'sms', 'queued', CAST($1 AS TEXT), '+91' || CAST(i AS TEXT), 'guardian', 0, i, i, i, i FROM n`,
			coach.AccountID, first, first+batch-1))
	}
	if p.postgres {
		ok(b, run(p.db, `ANALYZE deliveries`))
	}
	b.Run("decisions", func(b *testing.B) {
		for b.Loop() {
			ok(b, p.decide(guardian, player.ID, approval.Approve))
			ok(b, p.decide(guardian, player.ID, approval.Revoke))
			_, _, err := p.Send(bg, coach, player.ID, actor.Guardian, approval.Patch{}, nil)
			ok(b, err)
		}
	})
	b.Run("sign-in", func(b *testing.B) {
		s := p.signIn()
		for b.Loop() {
			p.clock.advance(3 * time.Hour) // at most 10 OTPs a day
			p.pageLogin(s, actor.Guardian, number(2), auth.RememberedLifetime, 0)
			p.sendOTPs()
		}
	})
}
