package auth

import (
	"context"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Introspector implements token introspection and revocation for other services
// (RFC 7662, RFC 7009).
type Introspector struct{ Auth *Service }

// The kinds of tokens: values of token_type_hint in RFC 7662 and 7009.
const (
	AccessToken  = "access_token"
	RefreshToken = "refresh_token"
)

// Introspection describes a token. The zero value means a token that is not active.
type Introspection struct {
	Active bool
	// Kind is AccessToken or RefreshToken.
	Kind string
	// ID is the jti. The access and the refresh token of one generation share it.
	ID        string
	AccountID string
	SessionID string
	Role      actor.Role
	Issuer    string
	Audience  []string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Introspect describes a token. An access token is active while a call with it would
// succeed, a refresh token while it can be exchanged. Introspecting an access token
// counts as its use: the previous refresh token cannot be exchanged afterwards. An
// unknown token is not active, without an error.
func (i *Introspector) Introspect(ctx context.Context, token string) (Introspection, error) {
	if id, generation, ok := i.Auth.Keys.Vault.ParseRefreshToken(token); ok {
		return i.introspectRefresh(ctx, id, generation)
	}
	by, claims, err := i.Auth.Authenticate(ctx, token)
	if fault.KindOf(err) == fault.Unauthenticated {
		return Introspection{}, nil
	}
	if err != nil {
		return Introspection{}, err
	}
	var own accessClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &own); err != nil { // Authenticate has verified it
		return Introspection{}, err
	}
	return Introspection{
		Active: true, Kind: AccessToken, ID: own.ID, AccountID: by.AccountID, SessionID: by.SessionID, Role: by.Role,
		Issuer: own.Issuer, Audience: own.Audience, IssuedAt: own.IssuedAt.Time, ExpiresAt: claims.ExpiresAt,
	}, nil
}

func (i *Introspector) introspectRefresh(ctx context.Context, id string, generation int64) (Introspection, error) {
	s, err := i.Auth.Store.Session(ctx, id)
	if err != nil || s.checkActive(i.Auth.Now()) != nil || !i.Auth.Now().Before(s.IdleAt) || !s.canRefresh(generation) {
		return Introspection{}, err
	}
	ends := s.IdleAt
	if s.EndsAt.Before(ends) {
		ends = s.EndsAt
	}
	return Introspection{
		Active: true, Kind: RefreshToken, ID: tokenID(id, generation), AccountID: s.AccountID, SessionID: s.ID, Role: s.Role,
		Issuer: i.Auth.Tokens.issuer, Audience: []string{Audience}, IssuedAt: s.LastUsedAt, ExpiresAt: ends,
	}, nil
}

// canRefresh reports whether the refresh token of a generation can be exchanged: the
// newest, and the previous one until its successor is used.
func (s *Session) canRefresh(generation int64) bool {
	return generation == s.Generation || generation == s.Generation-1 && s.UsedAt.IsZero()
}

// Revoke ends the session of an access or refresh token and returns its account. For
// an unknown or expired token it returns "" and no error (RFC 7009, section 2.2).
func (i *Introspector) Revoke(ctx context.Context, by actor.Operator, token string) (accountID string, err error) {
	id, _, ok := i.Auth.Keys.Vault.ParseRefreshToken(token)
	if !ok {
		claims, err := i.Auth.Tokens.Verify(token)
		if err != nil {
			return "", nil
		}
		id = claims.SessionID
	}
	return i.Auth.Store.RevokeSession(ctx, by, id)
}
