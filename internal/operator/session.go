package operator

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// SessionLifetime limits a session. It ends earlier if its token expires or is revoked.
const SessionLifetime = 8 * time.Hour

// Session is an operator's session in a browser, begun with a token. The browser holds
// the session's secret and never the token's. The store has the secret's SHA-256.
type Session struct {
	ID string
	// Token is the current state of the token that began the session.
	Token     Token
	CreatedAt time.Time
	EndsAt    time.Time
}

// Valid reports whether neither the session nor its token has ended at now.
func (s *Session) Valid(now time.Time) bool { return now.Before(s.EndsAt) && s.Token.Valid(now) }

// SignIn begins a session with the token that has this secret, and returns the session's
// secret, which cannot be read again. Its errors are as in Authenticate.
func (s *Service) SignIn(ctx context.Context, tokenSecret string) (*Session, string, error) {
	t, err := s.Authenticate(ctx, tokenSecret)
	if err != nil {
		return nil, "", err
	}
	secret, err := newSecret(s.Rand, sessionPrefix)
	if err != nil {
		return nil, "", err
	}
	now := s.Now()
	session := Session{ID: s.NewID(), Token: *t, CreatedAt: now, EndsAt: now.Add(SessionLifetime)}
	if t.EndsAt.Before(session.EndsAt) {
		session.EndsAt = t.EndsAt
	}
	if err := s.Store.AddOperatorSession(ctx, session, hash(secret)); err != nil {
		return nil, "", err
	}
	return &session, secret, nil
}

// Session returns the session with this secret and the scopes of its token. An unknown
// and an ended session get the same error, session_revoked.
func (s *Service) Session(ctx context.Context, secret string) (*Session, error) {
	session, err := s.Store.OperatorSessionByHash(ctx, hash(secret))
	if err != nil {
		return nil, err
	}
	if session == nil || !session.Valid(s.Now()) {
		return nil, fault.New(fault.Unauthenticated, "session_revoked", "This session has ended. Sign in again with an operator token.")
	}
	if err := s.markUsed(ctx, &session.Token); err != nil {
		return nil, err
	}
	return session, nil
}

// SignOut ends the session with this secret. An unknown session is no error.
func (s *Service) SignOut(ctx context.Context, secret string) error {
	session, err := s.Store.OperatorSessionByHash(ctx, hash(secret))
	if err != nil || session == nil {
		return err
	}
	return s.Store.EndOperatorSession(ctx, session.Token.Operator(), session.ID)
}
