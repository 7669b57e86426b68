package auth

import (
	"context"

	"github.com/touchline/touchline/internal/actor"
)

// Closing ends a coach's account for good, once its number is proved.
type Closing struct {
	By actor.Actor
	// Try is the guess at the code of the number.
	Try Try
}

// Close closes the account of the coach by. otp is a fresh code of the number in
// the role coach. Errors are those of the otp_* problems, and session_revoked where
// the session has ended meanwhile.
func (s *Service) Close(ctx context.Context, by actor.Actor, deviceToken, otp string) error {
	now := s.Now()
	t, _, err := s.guess(ctx, Slot{Number: by.Number, Role: by.Role}, otp, deviceToken, now)
	if err != nil {
		return err
	}
	tried, err := s.Store.CloseAccount(ctx, Closing{By: by, Try: t})
	if err != nil {
		return err
	}
	if err := s.judge(tried, now); err != nil {
		return err
	}
	return nil
}
