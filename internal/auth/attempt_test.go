package auth_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
)

// before returns the times that are each of ages before start.
func before(ages ...time.Duration) []time.Time {
	var times []time.Time
	for _, age := range ages {
		times = append(times, start.Add(-age))
	}
	return times
}

func TestEvaluate(t *testing.T) {
	const day = auth.FailureWindow
	key := auth.ChallengeKey{Number: "+919812345678", Role: actor.Guardian}
	live := &auth.Challenge{ChallengeKey: key, Attempts: 2, EndsAt: start.Add(time.Minute)}
	last := &auth.Challenge{ChallengeKey: key, Attempts: 5, EndsAt: start.Add(time.Minute)}
	holds := auth.RoleFacts{Linked: true}
	first := auth.Failures{Times: before(0)}
	tests := []struct {
		name    string
		counted auth.CountedAttempt
		correct bool
		signIn  bool
		want    auth.VerificationResult
	}{
		{
			"correct",
			auth.CountedAttempt{Challenge: live, Failures: first, Roles: holds},
			true, true,
			auth.VerificationResult{Outcome: auth.CorrectCode, EndsAt: live.EndsAt, Registered: true},
		},
		{
			"wrong",
			auth.CountedAttempt{Challenge: live, Failures: first, Roles: holds},
			false, true,
			auth.VerificationResult{Outcome: auth.WrongCode, AttemptsLeft: 2},
		},
		{
			"wrong, last attempt of the challenge",
			auth.CountedAttempt{Challenge: last, Failures: first, Roles: holds},
			false, true,
			auth.VerificationResult{Outcome: auth.WrongCode},
		},
		{
			"correct code without the role",
			auth.CountedAttempt{Challenge: live, Failures: first},
			true, true,
			auth.VerificationResult{Outcome: auth.WrongCode, AttemptsLeft: 2},
		},
		{
			"wrong, last but one failure of the window",
			auth.CountedAttempt{Challenge: live, Failures: auth.Failures{Times: before(0, time.Hour)}, Roles: holds},
			false, true,
			auth.VerificationResult{Outcome: auth.WrongCode, AttemptsLeft: 1},
		},
		{
			"wrong, last failure of the window",
			auth.CountedAttempt{Challenge: live, Failures: auth.Failures{Times: before(0, 1, day-1)}, Roles: holds},
			false, true,
			auth.VerificationResult{Outcome: auth.WrongCode, BlockUntil: start.Add(day)},
		},
		{
			"wrong, an old failure has left the window",
			auth.CountedAttempt{Challenge: live, Failures: auth.Failures{Times: before(0, 1, day)}, Roles: holds},
			false, true,
			auth.VerificationResult{Outcome: auth.WrongCode, AttemptsLeft: 1},
		},
		{
			"correct, last attempt of the window",
			auth.CountedAttempt{Challenge: live, Failures: auth.Failures{Times: before(0, 1, 2)}, Roles: holds},
			true, true,
			auth.VerificationResult{Outcome: auth.CorrectCode, EndsAt: live.EndsAt, Registered: true},
		},
		{
			"blocked",
			auth.CountedAttempt{Challenge: live, Failures: auth.Failures{Times: before(0), BlockedUntil: start.Add(1)}, Roles: holds},
			true, true,
			auth.VerificationResult{Outcome: auth.Blocked, EndsAt: start.Add(1)},
		},
		{
			"block has ended",
			auth.CountedAttempt{Challenge: live, Failures: auth.Failures{Times: before(0), BlockedUntil: start}, Roles: holds},
			true, true,
			auth.VerificationResult{Outcome: auth.CorrectCode, EndsAt: live.EndsAt, Registered: true},
		},
		{
			"more failures than allowed, without a block", // after the operator has lowered the maximum
			auth.CountedAttempt{Challenge: live, Failures: auth.Failures{Times: before(0, time.Hour, 2*time.Hour, 3*time.Hour)}, Roles: holds},
			true, true,
			auth.VerificationResult{Outcome: auth.Blocked, EndsAt: start.Add(day - time.Hour)},
		},
		{
			"blocked and no challenge",
			auth.CountedAttempt{Failures: auth.Failures{Times: before(0), BlockedUntil: start.Add(1)}},
			true, true,
			auth.VerificationResult{Outcome: auth.Blocked, EndsAt: start.Add(1)},
		},
		{
			"no challenge",
			auth.CountedAttempt{Failures: first, Roles: holds},
			true, true,
			auth.VerificationResult{Outcome: auth.NoChallenge},
		},
		{
			"exhausted challenge",
			auth.CountedAttempt{Failures: first, ExhaustedSentAt: start.Add(-time.Minute), Roles: holds},
			true, true,
			auth.VerificationResult{Outcome: auth.AttemptsExhausted, SentAt: start.Add(-time.Minute)},
		},
		{
			"suspended account signs in",
			auth.CountedAttempt{Challenge: live, Failures: first, Roles: holds, Suspended: true},
			true, true,
			auth.VerificationResult{Outcome: auth.AccountSuspended},
		},
		{
			"suspended account verifies",
			auth.CountedAttempt{Challenge: live, Failures: first, Roles: holds, Suspended: true},
			true, false,
			auth.VerificationResult{Outcome: auth.CorrectCode, EndsAt: live.EndsAt, Registered: true},
		},
		{
			"suspended account, wrong code",
			auth.CountedAttempt{Challenge: live, Failures: first, Roles: holds, Suspended: true},
			false, true,
			auth.VerificationResult{Outcome: auth.WrongCode, AttemptsLeft: 2},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			compared := false
			a := auth.Attempt{
				MaxAttempts: 5, MaxFailures: func(auth.ChallengeKey) int { return 3 }, Now: start,
				Matches: func(auth.Challenge) bool { compared = true; return tt.correct },
			}
			if tt.signIn {
				a.SignIn = new(auth.SignIn)
			}
			tt.counted.Key = key
			got := a.Evaluate(tt.counted)
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if got.Outcome.Evaluated() && !compared {
				t.Error("the code was not compared")
			}
			if (got.Outcome == auth.Blocked || tt.counted.Challenge == nil) && compared {
				t.Error("the code was compared although no attempt was left")
			}
		})
	}
}

func TestRoleFacts(t *testing.T) {
	tests := []struct {
		facts   auth.RoleFacts
		role    actor.Role
		held    bool
		maySign bool
	}{
		{auth.RoleFacts{}, actor.Coach, false, true},
		{auth.RoleFacts{Registered: true}, actor.Coach, true, true},
		{auth.RoleFacts{}, actor.Guardian, false, false},
		{auth.RoleFacts{Linked: true}, actor.Guardian, true, true},
		{auth.RoleFacts{Kept: true}, actor.Guardian, true, true},
		{auth.RoleFacts{}, actor.Student, false, false},
		{auth.RoleFacts{Linked: true}, actor.Student, true, true},
		{auth.RoleFacts{Kept: true}, actor.Student, true, true},
	}
	for _, tt := range tests {
		if held, maySign := tt.facts.Held(), tt.facts.MaySignIn(tt.role); held != tt.held || maySign != tt.maySign {
			t.Errorf("%s %+v: held %v, may sign in %v, want %v, %v", tt.role, tt.facts, held, maySign, tt.held, tt.maySign)
		}
	}
}

func TestLongerWait(t *testing.T) {
	short, long := &auth.LimitExceeded{Name: "short", Wait: 1}, &auth.LimitExceeded{Name: "long", Wait: 2}
	for _, tt := range []struct{ a, b, want *auth.LimitExceeded }{
		{nil, nil, nil}, {nil, short, short}, {short, nil, short}, {short, long, long}, {long, short, long},
	} {
		if got := auth.LongerWait(tt.a, tt.b); got != tt.want {
			t.Errorf("LongerWait(%v, %v) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
