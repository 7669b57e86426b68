package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkCloseAccount closes an account with 10,000 players, the limit of the largest
// default tier, each with a guardian and a student who approved. It must stay well
// below the 10 s of a transaction.
func BenchmarkCloseAccount(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { closings(b, newFixture(b, storetest.SQLite(b))) })
	b.Run("postgres", func(b *testing.B) { closings(b, newFixture(b, storetest.Postgres(b))) })
}

func closings(b *testing.B, p *fixture) {
	const players = 10_000
	nth := 0
	for b.Loop() {
		b.StopTimer()
		nth++
		by := p.coach(nth)
		by.SessionID = "s" + by.AccountID
		now := p.clock.Now()
		ok(b, run(p.db, `
			INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
			VALUES ($1, $2, 'coach', $3, 'd', 1, $4, 1, 1, $5, $5)`, by.SessionID, by.AccountID, string(by.Number), []byte{1}, now.Add(time.Hour).UnixMicro()))
		for _, role := range []string{"g", "s"} {
			ok(b, run(p.db, `INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) `+numbers+`
				SELECT CAST($1 AS TEXT) || CAST($3 AS TEXT) || i, CAST($1 AS TEXT) || i, CASE CAST($3 AS TEXT) WHEN 'g' THEN 'guardian' ELSE 'student' END, 1, 1 FROM n`,
				by.AccountID, players, role))
		}
		ok(b, run(p.db, `
			INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at) `+numbers+`
			SELECT CAST($1 AS TEXT) || i, CAST($1 AS TEXT), 1, 'n', CAST(i AS TEXT), '2014-01-01', 'n', i FROM n`, by.AccountID, players))
		for _, role := range []string{"guardian", "student"} {
			ok(b, run(p.db, `
				INSERT INTO parties (player_id, role, position, coach_id, name, number, account_id, state, pending_since) `+numbers+`
				SELECT CAST($1 AS TEXT) || i, CAST($3 AS TEXT), 1, CAST($1 AS TEXT), 'g', '+91', CAST($1 AS TEXT) || substr(CAST($3 AS TEXT), 1, 1) || i, 'approved', i FROM n`, by.AccountID, players, role))
		}
		ok(b, run(p.db, `
			INSERT INTO notifications (account_id, seq, id, type, title, body, data, player_id, created_at) `+numbers+`
			SELECT CAST($1 AS TEXT) || 'g' || i, 1, CAST($1 AS TEXT) || i, 'k', 't', 'b', '{}', CAST($1 AS TEXT) || i, 1 FROM n`, by.AccountID, players))
		slot := auth.ChallengeKey{Number: by.Number, Role: actor.Coach}
		_, err := p.accounts().OpenChallenge(bg, auth.ChallengeRequest{
			Challenge:   auth.Challenge{ChallengeKey: slot, ID: by.AccountID, Code: []byte("sealed"), SentAt: now, EndsAt: now.Add(time.Hour)},
			MaxAttempts: 2, LastSentBefore: now.Add(-time.Minute), Channel: "sms",
		})
		ok(b, err)
		if p.postgres {
			ok(b, run(p.db, `ANALYZE`))
		}
		b.StartTimer()
		result, err := p.accounts().CloseAccount(bg, auth.CloseRequest{By: by, Attempt: auth.Attempt{
			Keys: []auth.ChallengeKey{slot}, MaxAttempts: 3, MaxFailures: func(auth.ChallengeKey) int { return 2 }, Now: now,
			Matches: func(auth.Challenge) bool { return true },
		}})
		ok(b, err)
		if result.Outcome != auth.CorrectCode || p.count(`SELECT count(*) FROM notifications WHERE type = 'coach_left' AND body LIKE '%' || $1 || '%'`, "closed") < 2*players*nth {
			b.Fatalf("%+v", result)
		}
	}
}
