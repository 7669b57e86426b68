package auth

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
)

// CloseRequest closes a coach's account for ever, if the code of its number is
// correct.
type CloseRequest struct {
	By      actor.Actor
	Attempt Attempt
}

// Close closes the account of the calling coach. otp is a code for the coach's number in
// the role coach. Errors: as Login, and session_revoked if the session has
// ended meanwhile.
func (s *Service) Close(ctx context.Context, by actor.Actor, deviceToken, otp string) error {
	now := s.Now()
	attempt, _, err := s.newAttempt(ctx, ChallengeKey{Number: by.Number, Role: by.Role}, otp, Proof{DeviceToken: deviceToken}, now)
	if err != nil {
		return err
	}
	result, err := s.Store.CloseAccount(ctx, CloseRequest{By: by, Attempt: attempt})
	if err != nil {
		return err
	}
	if err := s.resultError(result, now); err != nil {
		return err
	}
	return nil
}
