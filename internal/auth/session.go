package auth

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Session is one sign-in of an account on one device.
type Session struct {
	ID        string
	AccountID string
	Role      actor.Role
	Number    phone.Number

	DeviceID   string
	DeviceName string

	// FilledFields names the fields of a coach's profile that are set. Only Login and
	// Refresh set it.
	FilledFields []string

	// Generation counts the refreshes.
	Generation int64
	// UsedAt is the first use of a token of this generation, or zero. UsedBefore has
	// the first uses of the two generations before, newest first.
	UsedAt     time.Time
	UsedBefore [2]time.Time

	CreatedAt time.Time
	// LastUsedAt is exact to the lifetime of an access token.
	LastUsedAt time.Time
	// IdleAt is when the refresh token expires unless it is used. EndsAt is when the
	// session ends in any case.
	IdleAt    time.Time
	EndsAt    time.Time
	RevokedAt time.Time
	// Passkey reports whether a passkey opened the session.
	Passkey bool

	// PageIdle is set for a session of pages: it ends when it is not used for this time. It
	// has a page token instead of refresh and access tokens.
	PageIdle time.Duration
	// NotificationSeq is the Seq of the account's newest notification, or 0. Only PageSession
	// sets it.
	NotificationSeq int64
}

// firstUse returns the first use of a generation's tokens. For a generation older
// than UsedBefore it returns the oldest saved use, which is an upper bound: it only differs
// if a client refreshes three times within the grace period.
func (s *Session) firstUse(generation int64) time.Time {
	back := s.Generation - generation
	if back == 0 {
		return s.UsedAt
	}
	return s.UsedBefore[min(back, 2)-1]
}

// Actor returns the caller that s authenticates.
func (s *Session) Actor() actor.Actor {
	return actor.Actor{AccountID: s.AccountID, SessionID: s.ID, Role: s.Role, Number: s.Number, SignedInAt: s.CreatedAt, Passkey: s.Passkey}
}

// checkActive returns session_revoked if s is nil or has ended.
func (s *Session) checkActive(now time.Time) error {
	if s == nil || !s.RevokedAt.IsZero() || !now.Before(s.EndsAt) {
		return fault.SessionEnded()
	}
	return nil
}

// isFirstUse reports whether a token with claims c is the first of its generation in use.
func (s *Session) isFirstUse(c Claims) bool {
	return s.UsedAt.IsZero() && s.Generation == c.Generation
}

// Authenticate returns the caller with this access token, if its session is active.
func (s *Service) Authenticate(ctx context.Context, accessToken string) (actor.Actor, Claims, error) {
	claims, err := s.Tokens.Verify(accessToken)
	if err != nil {
		return actor.Actor{}, Claims{}, err
	}
	session, err := s.Store.SessionOfToken(ctx, claims.SessionID)
	if err != nil {
		return actor.Actor{}, Claims{}, err
	}
	by, err := s.checkSession(ctx, claims, session)
	return by, claims, err
}

// checkSession checks the claims of a verified token against its session, or nil. It
// saves the first use of the session's tokens: from then on, the previous refresh
// token cannot be exchanged again.
func (s *Service) checkSession(ctx context.Context, claims Claims, session *Session) (actor.Actor, error) {
	if err := session.checkActive(s.Now()); err != nil {
		return actor.Actor{}, err
	}
	if session.AccountID != claims.AccountID || session.Role != claims.Role {
		return actor.Actor{}, errToken("token_invalid", "This is not a valid access token.")
	}
	if session.isFirstUse(claims) {
		if err := s.Store.MarkUsed(ctx, session.ID, session.Generation, s.Now()); err != nil {
			return actor.Actor{}, err
		}
	}
	return session.Actor(), nil
}

// Sessions lists the active sessions of the caller's account, newest first.
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

// Logout ends the caller's session. With all, it ends every session of the number, in
// every role, and removes its devices.
func (s *Service) Logout(ctx context.Context, by actor.Actor, all bool) error {
	if all {
		return s.Store.EndAllSessions(ctx, by)
	}
	_, err := s.Store.EndSession(ctx, by.AccountID, by.SessionID)
	return err
}

// LogoutByRefresh ends the session of a refresh token. It is no error if the session
// has ended already. With all it acts like Logout, but only for a token that could
// still be exchanged. Any other ends only its own session: an older one may be stolen
// (refresh_token_reused), and the number may have a new owner since one expired
// (refresh_token_expired).
func (s *Service) LogoutByRefresh(ctx context.Context, refreshToken string, all bool) error {
	id, generation, ok := s.Keys.Vault.ParseRefreshToken(refreshToken)
	if !ok {
		return errRefresh("refresh_token_invalid", "This is not a refresh token of this service.")
	}
	now := s.Now()
	session, err := s.Store.Session(ctx, id)
	if err != nil || session == nil || session.checkActive(now) != nil {
		return err
	}
	expired := !now.Before(session.IdleAt)
	current := !expired && (generation > session.Generation || session.canRefresh(generation))
	if err := s.Logout(ctx, session.Actor(), all && current); err != nil || current || !all {
		return err
	}
	if expired {
		return errRefresh("refresh_token_expired", "The refresh token has expired. Only its own session has ended.")
	}
	return errRefresh("refresh_token_reused", "This refresh token was used before. Only its own session has ended.")
}
