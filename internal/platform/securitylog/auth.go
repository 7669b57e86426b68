package securitylog

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

func account(id string) slog.Attr { return slog.String("account_id", id) }
func session(id string) slog.Attr { return slog.String("session_id", id) }

func (s *stores) OpenChallenge(ctx context.Context, r auth.ChallengeRequest) (auth.OpenedChallenge, error) {
	c, err := s.Stores.OpenChallenge(ctx, r)
	s.log.metrics.Requested(err)
	return c, err
}

func (s *stores) VerifyOTP(ctx context.Context, a auth.Attempt) (auth.VerificationResult, error) {
	result, err := s.Stores.VerifyOTP(ctx, a)
	if err != nil {
		return result, err
	}
	role := slog.String("role", string(a.Keys[0].Role))
	if result.Outcome == auth.CorrectCode && a.SignIn != nil {
		s.log.metrics.Sessions("opened", 1)
		opened := a.SignIn.Session
		s.log.Event(ctx, "sign_in", account(opened.AccountID), session(opened.ID), role, slog.Bool("new_account", !result.Registered))
	}
	s.attempt(ctx, result, role)
	return result, nil
}

// attempt counts an attempt, and logs one that failed.
func (s *stores) attempt(ctx context.Context, result auth.VerificationResult, attrs ...slog.Attr) {
	s.log.metrics.Verified(result.Outcome)
	switch result.Outcome {
	case auth.AccountSuspended:
		s.log.Event(ctx, "sign_in_refused", append(attrs, slog.String("code", "account_suspended"))...)
	case auth.WrongCode:
		s.log.Event(ctx, "otp_wrong", append(attrs, slog.Int("attempts_left", result.AttemptsLeft))...)
		switch {
		case !result.BlockUntil.IsZero():
			s.log.Event(ctx, "number_locked", append(attrs, slog.Time("until", result.BlockUntil))...)
		case result.AttemptsLeft == 0:
			s.log.Event(ctx, "otp_locked", attrs...)
		}
	}
}

func (s *stores) ChangeNumber(ctx context.Context, c auth.NumberChange) (auth.NumberChangeResult, error) {
	result, err := s.Stores.ChangeNumber(ctx, c)
	if err != nil {
		return result, err
	}
	ids := []slog.Attr{account(c.By.AccountID), session(c.By.SessionID)}
	s.attempt(ctx, result.Current, ids...)
	if result.Current.Outcome != auth.CorrectCode {
		return result, nil // the store does not evaluate the code of the new number
	}
	s.attempt(ctx, result.New, ids...)
	s.log.metrics.Sessions("ended", result.Ended)
	if result.New.Outcome == auth.CorrectCode {
		s.log.Event(ctx, "setting_changed", append(ids, slog.String("setting", "mobile_number"), slog.Int("sessions_ended", result.Ended))...)
	}
	return result, nil
}

func (s *stores) CloseAccount(ctx context.Context, c auth.CloseRequest) (auth.VerificationResult, error) {
	result, err := s.Stores.CloseAccount(ctx, c)
	if err != nil {
		return result, err
	}
	ids := []slog.Attr{account(c.By.AccountID), session(c.By.SessionID)}
	s.attempt(ctx, result, ids...)
	if result.Outcome == auth.CorrectCode {
		s.log.metrics.Sessions("ended_all", 1)
		s.log.Event(ctx, "account_closed", ids...)
	}
	return result, nil
}

func (s *stores) Rotate(ctx context.Context, r auth.Rotation) (*auth.Session, error) {
	rotated, err := s.Stores.Rotate(ctx, r)
	if rotated != nil {
		s.log.metrics.Sessions("refreshed", 1)
	}
	return rotated, err
}

func (s *stores) Revoke(ctx context.Context, ended *auth.Session, e event.Event) error {
	err := s.Stores.Revoke(ctx, ended, e)
	if err == nil {
		s.log.metrics.Sessions("reused", 1)
		s.log.Event(ctx, "refresh_reused", account(ended.AccountID), session(ended.ID))
	}
	return err
}

func (s *stores) EndSession(ctx context.Context, accountID, id string) (bool, error) {
	ended, err := s.Stores.EndSession(ctx, accountID, id)
	if ended {
		s.log.metrics.Sessions("ended", 1)
		s.log.Event(ctx, "logout", account(accountID), session(id))
	}
	return ended, err
}

func (s *stores) EndAllSessions(ctx context.Context, by actor.Actor) error {
	err := s.Stores.EndAllSessions(ctx, by)
	if err == nil {
		s.log.metrics.Sessions("ended_all", 1)
		s.log.Event(ctx, "logout_all", account(by.AccountID), session(by.SessionID))
	}
	return err
}

func (s *stores) RevokeSession(ctx context.Context, by actor.Operator, id string) (string, error) {
	accountID, err := s.Stores.RevokeSession(ctx, by, id)
	if accountID != "" {
		s.log.Event(ctx, "session_revoked", operatorID(by), account(accountID), session(id))
	}
	return accountID, err
}

func operatorID(by actor.Operator) slog.Attr { return slog.String("operator_id", by.ID) }
