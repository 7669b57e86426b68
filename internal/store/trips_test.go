package store_test

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestRoundTrips fails if an operation takes another number of round trips on PostgreSQL
// than expected.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	address, trips := countTrips(t, storetest.Postgres(t))
	p := newFixture(t, address)
	number := func(n int) phone.Number { return number(100 + n) }
	limits := []auth.Limit{{Name: "hour", Key: "hour", Max: 1000, Per: time.Hour}, {Name: "day", Key: "day", Max: 1000, Per: 24 * time.Hour}}
	now := p.clock.Now
	ask := func(n int) {
		c := auth.Challenge{ChallengeKey: auth.ChallengeKey{Number: number(n), Role: actor.Coach}, ID: p.db.NewID(), Code: []byte("x"), SentAt: now(), EndsAt: now().Add(time.Hour)}
		_, err := p.accounts().OpenChallenge(bg, auth.ChallengeRequest{Challenge: c, MaxAttempts: 5, LastSentBefore: now(), Limits: func(auth.RoleFacts) []auth.Limit { return limits }, Channel: "sms"})
		ok(t, err)
	}
	login := func(n int) *auth.Session {
		s := &auth.Session{
			ID: p.db.NewID(), AccountID: p.db.NewID(), Role: actor.Coach, Number: number(n), DeviceID: uuid.NewString(), Generation: 1,
			CreatedAt: now(), LastUsedAt: now(), IdleAt: now().Add(day), EndsAt: now().Add(day),
		}
		result, err := p.accounts().VerifyOTP(bg, auth.Attempt{
			Keys: []auth.ChallengeKey{{Number: s.Number, Role: s.Role}}, MaxAttempts: 5, MaxFailures: func(auth.ChallengeKey) int { return 20 }, Now: now(),
			Matches: func(auth.Challenge) bool { return true },
			SignIn:  &auth.SignIn{Session: s, RefreshHash: []byte(s.ID), DeviceHash: []byte(s.DeviceID), DeviceEnds: now().Add(day)},
		})
		ok(t, err)
		if result.Outcome != auth.CorrectCode {
			t.Fatalf("outcome %d", result.Outcome)
		}
		return s
	}
	sessions := map[int]*auth.Session{}
	players := map[int]string{}
	guardians := map[int]actor.Actor{}
	by := p.coach(1)
	decide := func(n int, what approval.Trigger) {
		_, _, err := p.Decide(bg, guardians[n], players[n], approval.Decision{Action: what})
		ok(t, err)
	}
	for _, tt := range []struct {
		what string
		most int64
		do   func(n int)
	}{
		{"request-otp", 3, ask},
		{"the login of a new coach", 3, func(n int) { sessions[n] = login(n) }},
		{"request-otp again", 3, ask},
		{"the login of a known coach", 2, func(n int) { login(n) }},
		{"refresh", 1, func(n int) {
			s := sessions[n]
			rotated, err := p.accounts().Rotate(bg, auth.Rotation{
				SessionID: s.ID, Generation: 1, OldHash: []byte(s.ID), NewHash: []byte(s.ID + "2"), Now: now(), IdleAt: now().Add(day),
			})
			ok(t, err)
			if rotated == nil {
				t.Fatal("nothing was rotated")
			}
		}},
		{"adding a player, both asked by SMS", 5, func(n int) {
			added, err := p.Add(bg, by, child(fmt.Sprint("Asha ", n), number(200+n)), mother(number(300+n)))
			ok(t, err)
			players[n] = added.ID
		}},
		{"reading the account of a guardian", 1, func(n int) { guardians[n] = p.as(actor.Guardian, number(300+n)) }},
		{"a decision", 3, func(n int) { decide(n, approval.Approve) }},
		{"a revocation", 3, func(n int) { decide(n, approval.Revoke) }},
		{"a new request", 5, func(n int) {
			_, _, err := p.Send(bg, by, players[n], actor.Guardian, approval.Patch{}, nil)
			ok(t, err)
		}},
		{"availability", 1, func(n int) {
			if _, err := approval.ReadConsentStatus(bg, p.db, sessions[n].Actor(), players[n]); fault.KindOf(err) != fault.NotFound {
				t.Errorf("player of another coach: got %v, want not_found", err)
			}
		}},
	} {
		tt.do(1) // statements are prepared
		before := trips.Load()
		tt.do(2)
		if n := trips.Load() - before; n != tt.most {
			t.Errorf("%s: %d round trips, want %d", tt.what, n, tt.most)
		}
	}
}

// countTrips returns the URL of a relay in front of the server at address, and a counter of
// round trips through it.
func countTrips(t *testing.T, address string) (string, *atomic.Int64) {
	t.Helper()
	trips := new(atomic.Int64)
	return storetest.Relay(t, address, func(client, server net.Conn) {
		var asking atomic.Bool
		go storetest.Copy(server, client, func() {
			if !asking.Swap(true) {
				trips.Add(1)
			}
		})
		go storetest.Copy(client, server, func() { asking.Store(false) })
	}), trips
}
