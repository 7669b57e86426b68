package auth

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
)

// Grant is a session with its tokens: the result of Login, LoginGrant and Refresh.
type Grant struct {
	Session      *Session
	AccessToken  string
	RefreshToken string
	DeviceToken  string
	// AccessEnds and RefreshEnds are the remaining lifetimes of the tokens.
	AccessEnds  time.Duration
	RefreshEnds time.Duration
}

// Rotation moves a session to its next generation, if its current one matches.
type Rotation struct {
	SessionID  string
	Generation int64 // of the caller's token
	OldHash    []byte
	NewHash    []byte
	Now        time.Time
	IdleAt     time.Time
}

// Refresh exchanges a refresh token for its successor. One UPDATE rotates the session, guarded by
// generation and hash. For a token that was exchanged before:
//
//	successor not used yet             the same successor again (a lost response)
//	successor used within the grace    refresh_token_raced
//	successor used before              refresh_token_reused; the session ends, because
//	                                   one of the two holders may have stolen the token
func (s *Service) Refresh(ctx context.Context, token string) (*Grant, error) {
	tokens := s.Keys.Vault
	id, generation, ok := tokens.ParseRefreshToken(token)
	if !ok {
		return nil, errRefresh("refresh_token_invalid", "This is not a refresh token of this service.")
	}
	successor, err := tokens.NewRefreshToken(id, generation+1)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	session, err := s.Store.Rotate(ctx, Rotation{
		SessionID: id, Generation: generation, OldHash: vault.HashToken(token), NewHash: vault.HashToken(successor),
		Now: now, IdleAt: now.Add(s.Settings.RefreshIdle),
	})
	if err != nil {
		return nil, err
	}
	if session == nil {
		session, err = s.refreshAgain(ctx, id, generation, now)
		if err != nil {
			return nil, err
		}
	}
	return s.grant(session, successor, now)
}

// refreshAgain handles a token that Rotate refused. It returns the session if the
// response may have the same successor again.
func (s *Service) refreshAgain(ctx context.Context, id string, generation int64, now time.Time) (*Session, error) {
	session, err := s.Store.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	switch {
	case session == nil:
		return nil, errRefresh("refresh_token_invalid", "This is not a refresh token of this service.")
	case !session.RevokedAt.IsZero():
		return nil, fault.SessionEnded()
	case !now.Before(session.IdleAt), !now.Before(session.EndsAt):
		return nil, errRefresh("refresh_token_expired", "The refresh token has expired.")
	case generation >= session.Generation:
		return nil, errRefresh("refresh_token_invalid", "This is not a refresh token of this service.")
	}
	if session.canRefresh(generation) {
		session.FilledFields, err = s.Store.DB.FilledFields(ctx, session.AccountID)
		return session, err
	}
	if now.Sub(session.firstUse(generation+1)) <= s.Settings.RefreshGrace {
		return nil, fault.New(fault.Unauthenticated, "refresh_token_raced",
			"Another request has refreshed this session already. Use the newer token. If there is none, sign in again.")
	}
	err = s.Store.Revoke(ctx, session, event.Event{Type: event.TokenReused, PartyID: session.AccountID, Party: session.Role, SessionID: session.ID})
	if err != nil {
		return nil, err
	}
	return nil, errRefresh("refresh_token_reused", "This refresh token was used before. The session has ended for safety.")
}

// grant returns the tokens of a session.
func (s *Service) grant(session *Session, refresh string, now time.Time) (*Grant, error) {
	access, err := s.Tokens.Access(session)
	if err != nil {
		return nil, err
	}
	ends := session.IdleAt
	if session.EndsAt.Before(ends) {
		ends = session.EndsAt
	}
	return &Grant{
		Session: session, AccessToken: access, RefreshToken: refresh,
		DeviceToken: s.Keys.Vault.DeviceToken(session.DeviceID),
		AccessEnds:  min(s.Settings.AccessLifetime, session.EndsAt.Sub(now)), RefreshEnds: ends.Sub(now),
	}, nil
}

func errRefresh(code, what string) *fault.Error {
	return fault.New(fault.Unauthenticated, code, "%s Sign in again.", what)
}
