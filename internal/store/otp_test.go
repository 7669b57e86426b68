package store_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// challenge opens a challenge that outlives the test.
func (p *fixture) challenge(key auth.ChallengeKey) {
	p.Helper()
	_, err := p.openChallenge(key)
	ok(p, err)
}

func (p *fixture) openChallenge(key auth.ChallengeKey) (auth.OpenedChallenge, error) {
	now := p.clock.Now()
	return p.accounts().OpenChallenge(bg, auth.ChallengeRequest{
		Challenge:   auth.Challenge{ChallengeKey: key, ID: p.db.NewID(), Code: []byte("x"), SentAt: now, EndsAt: now.Add(1000 * day)},
		MaxAttempts: 1000, LastSentBefore: now.Add(day),
	})
}

// attempt returns an attempt with a correct or a wrong code.
func (p *fixture) attempt(correct bool, maxFailures int, keys ...auth.ChallengeKey) auth.Attempt {
	return auth.Attempt{
		Keys: keys, MaxAttempts: 1000, MaxFailures: func(auth.ChallengeKey) int { return maxFailures }, Now: p.clock.Now(),
		Matches: func(auth.Challenge) bool { return correct },
	}
}

// TestOTPFailuresMatchModel compares the limit on wrong codes with a plain list of
// them: a maximum in any 24 h, then a block of 24 h. Correct codes do not count.
func TestOTPFailuresMatchModel(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		seed := newSeed(p)
		for round := range 6 {
			dice := newRand(seed, round)
			key, most := auth.ChallengeKey{Number: number(round), Role: actor.Coach}, 1+dice.IntN(11)
			var wrong []time.Time
			var blocked time.Time
			p.challenge(key)
			for i := range 100 {
				p.clock.advance(time.Duration(dice.IntN(5*3600)) * time.Second)
				if dice.IntN(4) == 0 {
					p.clock.advance(day - time.Duration(dice.IntN(3))*time.Hour)
				}
				now, right, recent := p.clock.Now(), dice.IntN(4) == 0, 0
				for _, at := range wrong {
					if at.After(now.Add(-day)) {
						recent++
					}
				}
				want := auth.VerificationResult{Outcome: auth.WrongCode, AttemptsLeft: most - recent - 1}
				switch {
				case now.Before(blocked):
					want = auth.VerificationResult{Outcome: auth.Blocked, EndsAt: blocked}
				case right:
					want = auth.VerificationResult{Outcome: auth.CorrectCode}
				default:
					wrong = append(wrong, now)
					if want.AttemptsLeft == 0 {
						blocked = now.Add(day)
					}
				}
				got, err := p.accounts().VerifyOTP(bg, p.attempt(right, most, key))
				ok(p, err)
				if got.Outcome != want.Outcome || got.AttemptsLeft != want.AttemptsLeft || want.Outcome == auth.Blocked && !got.EndsAt.Equal(want.EndsAt) {
					p.Fatalf("round %d, attempt %d with %d a day: got %+v, want %+v", round, i, most, got, want)
				}
				opened, err := p.openChallenge(key) // a wrong code uses an attempt of it
				ok(p, err)
				var until time.Time // a code that cannot be used is not sent
				if now.Before(blocked) {
					until = blocked
				}
				if !opened.BlockedUntil.Equal(until) {
					p.Fatalf("round %d, after attempt %d: asking for a code: blocked until %v, want %v", round, i, opened.BlockedUntil, until)
				}
			}
		}
	})
}

// TestConcurrentFirstFailures enters a first wrong code of a number in three roles at once:
// no more codes are compared than may fail.
func TestConcurrentFirstFailures(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		const most = 2
		for round := range 20 {
			outcomes := make(chan auth.VerifyOutcome, 3)
			begin := make(chan struct{})
			for _, role := range []actor.Role{actor.Coach, actor.Guardian, actor.Student} {
				key := auth.ChallengeKey{Number: number(round), Role: role}
				p.challenge(key)
				go func() {
					<-begin
					r, err := p.accounts().VerifyOTP(bg, p.attempt(false, most, key))
					if err != nil {
						p.Error(err)
					}
					outcomes <- r.Outcome
				}()
			}
			close(begin)
			got := map[auth.VerifyOutcome]int{}
			for range 3 {
				got[<-outcomes]++
			}
			if got[auth.WrongCode] != most || got[auth.Blocked] != 1 {
				p.Fatalf("round %d: outcomes %v, want %d wrong and 1 blocked", round, got, most)
			}
		}
	})
}

// TestLoginRacesWithAccountEnd runs logins from known devices, which have their own
// challenges, while the account closes, is suspended or changes its number. No session
// stays active afterwards.
func TestLoginRacesWithAccountEnd(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		for round := range 30 {
			shared := auth.ChallengeKey{Number: number(2 * round), Role: actor.Coach}
			to := auth.ChallengeKey{Number: number(2*round + 1), Role: actor.Coach}
			login := func(keys ...auth.ChallengeKey) *auth.Session {
				now, attempt := p.clock.Now(), p.attempt(true, 10, keys...)
				s := &auth.Session{
					ID: p.db.NewID(), AccountID: p.db.NewID(), Role: actor.Coach, Number: shared.Number, DeviceID: uuid.NewString(), Generation: 1,
					CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(day), EndsAt: now.Add(2 * day),
				}
				attempt.SignIn = &auth.SignIn{Session: s, RefreshHash: []byte(s.ID), DeviceHash: []byte(s.DeviceID), DeviceEnds: now.Add(day)}
				if result, err := p.accounts().VerifyOTP(bg, attempt); err != nil || result.Outcome != auth.CorrectCode && result.Outcome != auth.AccountSuspended {
					p.Errorf("login: got %+v, %v", result, err)
				}
				return s
			}
			p.challenge(shared)
			by := login(shared).Actor()
			p.challenge(shared)
			p.challenge(to)
			var all sync.WaitGroup
			for range 6 {
				own := auth.ChallengeKey{Number: shared.Number, Role: actor.Coach, DeviceID: uuid.NewString()}
				p.challenge(own)
				all.Go(func() {
					time.Sleep(rand.N(10 * time.Millisecond)) // so that the logins meet the change at different steps
					login(own, shared)
				})
			}
			var err error
			switch attempt := p.attempt(true, 10, shared); round % 3 {
			case 0:
				_, err = p.accounts().CloseAccount(bg, auth.CloseRequest{By: by, Attempt: attempt})
			case 1:
				err = (&coach.AccountAdmin{Store: p.coaches()}).Suspend(bg, testOperator, by.AccountID, "why")
			default:
				_, err = p.accounts().ChangeNumber(bg, auth.NumberChange{By: by, To: to.Number, Current: attempt, New: p.attempt(true, 10, to)})
			}
			if kind := fault.KindOf(err); err != nil && (kind == fault.Internal || kind == fault.Unavailable) {
				p.Error(err)
			}
			all.Wait()
		}
		for _, query := range []string{
			`SELECT count(*) FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.revoked_at IS NULL AND (a.suspended_at IS NOT NULL OR a.closed_at IS NOT NULL)`,
			`SELECT count(*) FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.revoked_at IS NULL AND s.mobile_number <> a.mobile_number`,
			`SELECT count(*) FROM otp_failure_times`,
		} {
			if n := p.count(query); n != 0 {
				p.Errorf("%s: got %d, want 0", query, n)
			}
		}
	})
}
