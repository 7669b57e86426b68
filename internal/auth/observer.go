package auth

import (
	"context"
	"log/slog"
)

// Observer gets what happens at sign-in, after the commit. A nil function gets nothing.
type Observer struct {
	// SecurityEvent writes a line of the security log.
	SecurityEvent func(ctx context.Context, name string, attrs ...slog.Attr)
	// Requested counts a request for a code, Verified an attempt, Sessions sessions that were opened,
	// refreshed, reused or ended.
	Requested func(err error)
	Verified  func(VerifyOutcome)
	Sessions  func(event string, n int)
}

func (o Observer) event(ctx context.Context, name string, attrs ...slog.Attr) {
	if o.SecurityEvent != nil {
		o.SecurityEvent(ctx, name, attrs...)
	}
}

func (o Observer) requested(err error) {
	if o.Requested != nil {
		o.Requested(err)
	}
}

func (o Observer) verified(outcome VerifyOutcome) {
	if o.Verified != nil {
		o.Verified(outcome)
	}
}

func (o Observer) sessions(event string, n int) {
	if o.Sessions != nil {
		o.Sessions(event, n)
	}
}

func account(id string) slog.Attr { return slog.String("account_id", id) }
func session(id string) slog.Attr { return slog.String("session_id", id) }

// attempt counts an attempt, and logs one that failed.
func (db Store) attempt(ctx context.Context, result VerificationResult, attrs ...slog.Attr) {
	db.verified(result.Outcome)
	switch result.Outcome {
	case AccountSuspended:
		db.event(ctx, "sign_in_refused", append(attrs, slog.String("code", "account_suspended"))...)
	case WrongCode:
		db.event(ctx, "otp_wrong", append(attrs, slog.Int("attempts_left", result.AttemptsLeft))...)
		switch {
		case !result.BlockUntil.IsZero():
			db.event(ctx, "number_locked", append(attrs, slog.Time("until", result.BlockUntil))...)
		case result.AttemptsLeft == 0:
			db.event(ctx, "otp_locked", attrs...)
		}
	}
}
