//go:build unix

package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store/storetest"
)

// pooledModes are the modes of pgx without named prepared statements.
var pooledModes = []string{"cache_describe", "exec"}

// TestStoreBehindPgBouncer runs every statement of the store behind PgBouncer in
// transaction mode, and then sign-in, adding a player, a decision and the delivery of
// messages from several clients at once.
func TestStoreBehindPgBouncer(t *testing.T) {
	t.Parallel()
	for _, mode := range pooledModes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			pooled := func(t *testing.T) string {
				return storetest.PgBouncer(t, storetest.Postgres(t)) + "&default_query_exec_mode=" + mode
			}
			t.Run("statements", func(t *testing.T) { runPooledStatements(t, pooled(t)) })
			t.Run("clients", func(t *testing.T) {
				p := newFixture(t, pooled(t), limited(message.Limits{PerNumber: 20, PerCoach: 200, TotalHour: 2000}))
				const clients, rounds = 6, 4
				for _, err := range concurrently(clients, func(client int) error {
					for round := range rounds {
						if err := p.signInAndAdd(100*client + 3*round); err != nil {
							return fmt.Errorf("client %d, round %d: %w", client, round, err)
						}
					}
					return nil
				}) {
					ok(t, err)
				}
				if sent := p.sendRequests(1); len(sent) != 2*clients*rounds {
					t.Errorf("%d requests sent, want %d", len(sent), 2*clients*rounds)
				}
				if n := p.count(`SELECT count(*) FROM parties WHERE role = 'guardian' AND state = 'approved'`); n != clients*rounds {
					t.Errorf("%d players are approved, want %d", n, clients*rounds)
				}
			})
		})
	}
}

// signInAndAdd signs a coach with the nth number in, sends the OTP, adds a player, and
// decides as the guardian.
func (p *fixture) signInAndAdd(n int) error {
	now, coach := p.clock.Now(), number(n)
	_, err := p.accounts().OpenChallenge(bg, auth.ChallengeRequest{
		Challenge: auth.Challenge{
			ChallengeKey: auth.ChallengeKey{Number: coach, Role: actor.Coach}, ID: p.db.NewID(), Code: []byte("x"), SentAt: now, EndsAt: now.Add(time.Hour),
		},
		MaxAttempts: 5, LastSentBefore: now, Channel: "sms",
		Limits: func(auth.RoleFacts) []auth.Limit {
			return []auth.Limit{limit("hour/"+string(coach), 5, time.Hour), limit("all", 1000, time.Hour)}
		},
	})
	if err != nil {
		return fmt.Errorf("request OTP: %w", err)
	}
	s := &auth.Session{
		ID: p.db.NewID(), AccountID: p.db.NewID(), Role: actor.Coach, Number: coach, DeviceID: uuid.NewString(), Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(day), EndsAt: now.Add(day),
	}
	attempt := p.attempt(true, 20, auth.ChallengeKey{Number: coach, Role: actor.Coach})
	attempt.SignIn = &auth.SignIn{Session: s, RefreshHash: []byte(s.ID), DeviceHash: []byte(s.DeviceID), DeviceEnds: now.Add(day)}
	if result, err := p.accounts().VerifyOTP(bg, attempt); err != nil || result.Outcome != auth.CorrectCode {
		return fmt.Errorf("sign-in: outcome %d, %w", result.Outcome, err)
	}
	codes, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.OTP), p.db.NewID(), now.Add(time.Minute), 2)
	if err == nil && len(codes) > 0 {
		err = p.db.Outbox.DeliverySent(bg, codes)
	}
	if err != nil {
		return fmt.Errorf("send OTPs: %w", err)
	}
	guardian := actor.Actor{Role: actor.Guardian, Number: number(n + 1)}
	added, err := p.Add(bg, s.Actor(), child(fmt.Sprint("Child ", n), number(n+2)), mother(guardian.Number))
	if err != nil {
		return fmt.Errorf("add a player: %w", err)
	}
	err = p.db.QueryRow(bg, `SELECT id FROM accounts WHERE mobile_number = $1 AND role = 'guardian'`, string(guardian.Number)).Scan(&guardian.AccountID)
	if err != nil {
		return err
	}
	if err := p.decide(guardian, added.ID, approval.Approve); err != nil {
		return fmt.Errorf("approve: %w", err)
	}
	return nil
}
