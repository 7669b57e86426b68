package auth

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
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

// OpenChallenge counts the limits, saves the challenge and queues its SMS: see openChallenge.
func (db SQL) OpenChallenge(ctx context.Context, r ChallengeRequest) (OpenedChallenge, error) {
	c, err := db.openChallenge(ctx, r)
	db.requested(err)
	return c, err
}

// VerifyOTP counts and evaluates an attempt: see evaluate.
func (db SQL) VerifyOTP(ctx context.Context, a Attempt) (VerificationResult, error) {
	result, err := db.evaluate(ctx, a)
	if err != nil {
		return result, err
	}
	role := slog.String("role", string(a.Keys[0].Role))
	if result.Outcome == CorrectCode && a.SignIn != nil {
		db.sessions("opened", 1)
		opened := a.SignIn.Session
		db.event(ctx, "sign_in", account(opened.AccountID), session(opened.ID), role, slog.Bool("new_account", !result.Registered))
	}
	db.attempt(ctx, result, role)
	return result, nil
}

// attempt counts an attempt, and logs one that failed.
func (db SQL) attempt(ctx context.Context, result VerificationResult, attrs ...slog.Attr) {
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

// ChangeNumber evaluates both codes and changes the number: see changeNumberOnce.
func (db SQL) ChangeNumber(ctx context.Context, c NumberChange) (NumberChangeResult, error) {
	result, err := db.changeNumberOnce(ctx, c)
	if err != nil {
		return result, err
	}
	ids := []slog.Attr{account(c.By.AccountID), session(c.By.SessionID)}
	db.attempt(ctx, result.Current, ids...)
	if result.Current.Outcome != CorrectCode {
		return result, nil // the store does not evaluate the code of the new number
	}
	db.attempt(ctx, result.New, ids...)
	db.sessions("ended", result.Ended)
	if result.New.Outcome == CorrectCode {
		db.event(ctx, "setting_changed", append(ids, slog.String("setting", "mobile_number"), slog.Int("sessions_ended", result.Ended))...)
	}
	return result, nil
}

// CloseAccount evaluates the code and closes the account: see closeAccountOnce.
func (db SQL) CloseAccount(ctx context.Context, c CloseRequest) (VerificationResult, error) {
	result, err := db.closeAccountOnce(ctx, c)
	if err != nil {
		return result, err
	}
	ids := []slog.Attr{account(c.By.AccountID), session(c.By.SessionID)}
	db.attempt(ctx, result, ids...)
	if result.Outcome == CorrectCode {
		db.sessions("ended_all", 1)
		db.event(ctx, "account_closed", ids...)
	}
	return result, nil
}

// Rotate moves a session to its next generation: see rotate.
func (db SQL) Rotate(ctx context.Context, r Rotation) (*Session, error) {
	rotated, err := db.rotate(ctx, r)
	if rotated != nil {
		db.sessions("refreshed", 1)
	}
	return rotated, err
}

// Revoke ends a session whose refresh token was reused: see revoke.
func (db SQL) Revoke(ctx context.Context, ended *Session, e event.Event) error {
	err := db.revoke(ctx, ended, e)
	if err == nil {
		db.sessions("reused", 1)
		db.event(ctx, "refresh_reused", account(ended.AccountID), session(ended.ID))
	}
	return err
}

// EndSession ends a live session of the account; false if there is none.
func (db SQL) EndSession(ctx context.Context, accountID, id string) (bool, error) {
	ended, err := db.endSession(ctx, accountID, id)
	if ended {
		db.sessions("ended", 1)
		db.event(ctx, "logout", account(accountID), session(id))
	}
	return ended, err
}

// EndAllSessions ends the sessions of the number in every role.
func (db SQL) EndAllSessions(ctx context.Context, by actor.Actor) error {
	err := db.endAllSessions(ctx, by)
	if err == nil {
		db.sessions("ended_all", 1)
		db.event(ctx, "logout_all", account(by.AccountID), session(by.SessionID))
	}
	return err
}

// RevokeSession ends a session for an operator: see revokeSession.
func (db SQL) RevokeSession(ctx context.Context, by actor.Operator, id string) (string, error) {
	accountID, err := db.revokeSession(ctx, by, id)
	if accountID != "" {
		db.event(ctx, "session_revoked", slog.String("operator_id", by.ID), account(accountID), session(id))
	}
	return accountID, err
}
