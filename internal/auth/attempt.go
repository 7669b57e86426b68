package auth

import "time"

// FailureWindow is how long a wrong code counts, and how long too many wrong codes
// block a number or device.
const FailureWindow = 24 * time.Hour

// Attempt is one attempt to verify a code. The store counts it as a wrong one and
// then calls Evaluate, in one transaction. It takes the counts back if the code is
// correct.
type Attempt struct {
	// Keys are searched in this order for a live challenge.
	Keys        []ChallengeKey
	MaxAttempts int
	// MaxFailures returns how many wrong codes the number or device of a key may enter
	// in a FailureWindow.
	MaxFailures func(ChallengeKey) int
	Now         time.Time
	// Matches compares the code with the one of a challenge. It may run more than once.
	Matches func(Challenge) bool
	// SignIn opens this session and consumes the challenge; Consume only consumes it.
	// Without either the attempt only verifies.
	SignIn  *SignIn
	Consume bool
}

// Consumes reports whether a correct code cannot be used again.
func (a Attempt) Consumes() bool { return a.SignIn != nil || a.Consume }

// SignIn is the session that a correct code opens.
type SignIn struct {
	// Session lacks AccountID and FilledFields. The store finds them, or registers the
	// coach.
	Session     *Session
	RefreshHash []byte
	// DeviceHash and DeviceEnds register or renew the session's device.
	DeviceHash []byte
	DeviceEnds time.Time
	// OtherDevices are the hashes of the device tokens that the request presented besides: the
	// same device, as it signed in with other numbers.
	OtherDevices [][]byte
}

// CountedAttempt is the state that the store found when it counted an attempt.
type CountedAttempt struct {
	// Key is the key that the attempt counts against.
	Key ChallengeKey
	// Challenge is the live challenge of Key, with this attempt counted, or nil.
	Challenge *Challenge
	// ExhaustedSentAt is set if Challenge is nil because all its attempts are used:
	// when its code was sent.
	ExhaustedSentAt time.Time
	Failures        Failures
	Roles           RoleFacts
	Suspended       bool
}

// FoundChallenge reports whether the attempt counts against the challenge of Key, which is live
// or exhausted, so that the following keys are not searched. An attempt of a known device
// therefore never counts against the challenge that unknown devices share.
func (c CountedAttempt) FoundChallenge() bool {
	return c.Challenge != nil || !c.ExhaustedSentAt.IsZero()
}

// Failures are the wrong codes for a number or from a known device.
type Failures struct {
	// Times are newest first, and begin with the attempt that is evaluated.
	Times        []time.Time
	BlockedUntil time.Time
}

// Recent returns how many failures are in the window that ends at now.
func (f Failures) Recent(now time.Time) int {
	n := 0
	for _, at := range f.Times {
		if at.After(now.Add(-FailureWindow)) {
			n++
		}
	}
	return n
}

// Blocked returns until when the number or device is blocked at now, or zero. It
// ignores the attempt that is evaluated.
func (f Failures) Blocked(now time.Time, maxFailures int) time.Time {
	if f.BlockedUntil.After(now) {
		return f.BlockedUntil
	}
	if f.Recent(now) > maxFailures && len(f.Times) > 1 {
		return f.Times[1].Add(FailureWindow)
	}
	return time.Time{}
}

// VerifyOutcome is how an attempt ended.
type VerifyOutcome int

// The outcomes of an attempt. Only WrongCode stays counted.
const (
	NoChallenge       VerifyOutcome = iota // no live challenge
	AttemptsExhausted                      // the challenge has no attempts left
	Blocked                                // too many wrong codes of the number or device
	WrongCode
	CorrectCode
	AccountSuspended // the code is correct, but the account must not sign in
)

// Evaluated reports whether the code was compared and the counts must be saved. The
// store rolls back every other outcome.
func (o VerifyOutcome) Evaluated() bool { return o == WrongCode || o == CorrectCode }

// VerificationResult is the result of an Attempt.
type VerificationResult struct {
	Outcome VerifyOutcome
	// AttemptsLeft is how many attempts may follow a WrongCode.
	AttemptsLeft int
	// EndsAt is when the challenge of a CorrectCode ends, or until when Blocked lasts.
	EndsAt time.Time
	// SentAt is when the code of AttemptsExhausted was sent.
	SentAt time.Time
	// BlockUntil is set if a WrongCode was the last one allowed.
	BlockUntil time.Time
	// Registered reports whether the number held the role before.
	Registered bool
}

// EvaluateRepeat returns the result of a request that repeats the Idempotency-Key of a
// login, which the store has counted: WrongCode, or the limit that is exceeded.
func (a Attempt) EvaluateRepeat(c CountedAttempt) VerificationResult {
	maxFailures := a.MaxFailures(c.Key)
	if until := c.Failures.Blocked(a.Now, maxFailures); !until.IsZero() {
		return VerificationResult{Outcome: Blocked, EndsAt: until}
	}
	if !c.ExhaustedSentAt.IsZero() {
		return VerificationResult{Outcome: AttemptsExhausted, SentAt: c.ExhaustedSentAt}
	}
	result := VerificationResult{Outcome: WrongCode}
	if c.Failures.Recent(a.Now) >= maxFailures {
		result.BlockUntil = a.Now.Add(FailureWindow)
	}
	return result
}

// Evaluate returns the result of an attempt that the store has counted.
func (a Attempt) Evaluate(c CountedAttempt) VerificationResult {
	maxFailures := a.MaxFailures(c.Key)
	if until := c.Failures.Blocked(a.Now, maxFailures); !until.IsZero() {
		return VerificationResult{Outcome: Blocked, EndsAt: until}
	}
	if c.Challenge == nil {
		if !c.ExhaustedSentAt.IsZero() {
			return VerificationResult{Outcome: AttemptsExhausted, SentAt: c.ExhaustedSentAt}
		}
		return VerificationResult{Outcome: NoChallenge}
	}
	// Compare the code even if the number does not hold the role, to avoid a timing
	// oracle. Both cases have the same outcome.
	matches := a.Matches(*c.Challenge)
	if !matches || !c.Roles.MaySignIn(c.Key.Role) {
		failures := c.Failures.Recent(a.Now)
		result := VerificationResult{Outcome: WrongCode, AttemptsLeft: max(0, min(a.MaxAttempts-c.Challenge.Attempts, maxFailures-failures))}
		if failures >= maxFailures {
			result.BlockUntil = a.Now.Add(FailureWindow)
		}
		return result
	}
	if c.Suspended && a.SignIn != nil {
		return VerificationResult{Outcome: AccountSuspended}
	}
	return VerificationResult{Outcome: CorrectCode, EndsAt: c.Challenge.EndsAt, Registered: c.Roles.Held()}
}
