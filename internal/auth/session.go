package auth

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// Session is one sign-in of an account on one device.
type Session struct {
	ID        string
	AccountID string
	Role      actor.Role
	Number    phone.Number

	DeviceID   string
	DeviceName string

	// Filled names what the account's holder has told of themself, in the words of
	// whoever asks them. A login and a refresh know it, and nobody else does.
	Filled []string

	// Generation counts the refreshes.
	Generation int64
	// UsedAt is the first use of a token of this generation, zero where there was
	// none; UsedBefore are those of the generations before, newest first, as many as
	// the store keeps.
	UsedAt     time.Time
	UsedBefore []time.Time

	CreatedAt time.Time
	// LastUsedAt is exact to the lifetime of an access token.
	LastUsedAt time.Time
	// IdleAt is when the refresh token ends unless it is used, EndsAt when the
	// session ends in any case.
	IdleAt    time.Time
	EndsAt    time.Time
	RevokedAt time.Time
}

// firstUse returns the first use of a generation's tokens. One that is longer ago
// than the store keeps was used no later than the oldest that is kept.
func (s *Session) firstUse(generation int64) time.Time {
	back := s.Generation - generation
	if back == 0 {
		return s.UsedAt
	}
	if len(s.UsedBefore) == 0 {
		return time.Time{}
	}
	return s.UsedBefore[min(back, int64(len(s.UsedBefore)))-1]
}

// Actor returns who acts in s.
func (s *Session) Actor() actor.Actor {
	return actor.Actor{AccountID: s.AccountID, SessionID: s.ID, Role: s.Role, Number: s.Number}
}

// Live answers session_revoked once s was ended, or was never there (nil).
func (s *Session) Live(now time.Time) error {
	if s == nil || !s.RevokedAt.IsZero() || !now.Before(s.EndsAt) {
		return errRevoked()
	}
	return nil
}

// FirstUse says whether a token with claims c is the first of its generation to be used.
func (s *Session) FirstUse(c Claims) bool {
	return s.UsedAt.IsZero() && s.Generation == c.Generation
}

func errRevoked() *fault.Error {
	return fault.New(fault.Unauthenticated, "session_revoked", "This session has ended. Sign in again.")
}

// Authenticate returns who presents an access token, if its session lives.
func (s *Service) Authenticate(ctx context.Context, accessToken string) (actor.Actor, Claims, error) {
	claims, err := s.Tokens.Verify(accessToken)
	if err != nil {
		return actor.Actor{}, Claims{}, err
	}
	session, err := s.Store.Session(ctx, claims.SessionID)
	if err != nil {
		return actor.Actor{}, Claims{}, err
	}
	by, err := s.Admit(ctx, claims, session)
	return by, claims, err
}

// Admit finishes what Verify began, with the session's row (nil where there is
// none): it must live, and the first use of its tokens is noted, for that ends
// the time in which the token before may still be exchanged.
func (s *Service) Admit(ctx context.Context, claims Claims, session *Session) (actor.Actor, error) {
	if err := session.Live(s.Now()); err != nil {
		return actor.Actor{}, err
	}
	if session.AccountID != claims.AccountID || session.Role != claims.Role {
		return actor.Actor{}, errToken("token_invalid", "This is no valid access token.")
	}
	if session.FirstUse(claims) {
		if err := s.Store.MarkUsed(ctx, session.ID, session.Generation, s.Now()); err != nil {
			return actor.Actor{}, err
		}
	}
	return session.Actor(), nil
}

// SessionLives says whether the session with id is there and has not ended.
func (s *Service) SessionLives(ctx context.Context, id string) (bool, error) {
	session, err := s.Store.Session(ctx, id)
	return session.Live(s.Now()) == nil, err
}

// Sessions lists the live sessions of the caller's account, newest first.
func (s *Service) Sessions(ctx context.Context, by actor.Actor, before string, limit int) ([]*Session, error) {
	return s.Store.Sessions(ctx, by.AccountID, s.Now(), before, limit)
}

// EndSession ends one session of the caller's account.
func (s *Service) EndSession(ctx context.Context, by actor.Actor, id string) error {
	ended, err := s.Store.EndSession(ctx, by.AccountID, id)
	if err == nil && !ended {
		err = fault.Missing()
	}
	return err
}

// Logout ends the caller's session or, with all, every session and device of
// the number, whatever the role.
func (s *Service) Logout(ctx context.Context, by actor.Actor, all bool) error {
	if all {
		return s.Store.EndAll(ctx, by.Number)
	}
	_, err := s.Store.EndSession(ctx, by.AccountID, by.SessionID)
	return err
}

// LogoutByRefresh ends the session that a refresh token belongs to, also when
// the access token has long expired. It is no error where it has ended before.
// With all the token must be one that could be refreshed: who holds an older one
// may have stolen it, so that ends its own session and answers
// refresh_token_reused.
func (s *Service) LogoutByRefresh(ctx context.Context, refreshToken string, all bool) error {
	id, generation, ok := s.Keys.Vault.parseRefreshToken(refreshToken)
	if !ok {
		return errRefresh("refresh_token_invalid", "This is no refresh token of this service.")
	}
	session, err := s.Store.Session(ctx, id)
	if err != nil || session == nil || session.Live(s.Now()) != nil {
		return err
	}
	current := generation >= session.Generation || generation == session.Generation-1 && session.UsedAt.IsZero()
	if err := s.Logout(ctx, session.Actor(), all && current); err != nil || current || !all {
		return err
	}
	return errRefresh("refresh_token_reused", "This refresh token was used before; its own session alone was ended.")
}
