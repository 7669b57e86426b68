package auth

import (
	"context"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// RevokeStore ends sessions for operators.
type RevokeStore interface {
	// RevokeSession ends the session and records that by did; it returns whose it
	// was, or "" where there is none that lives.
	RevokeSession(ctx context.Context, by actor.Operator, id string) (accountID string, err error)
}

// Inspector tells other services what a person's token is worth, and ends tokens
// for them (RFC 7662, RFC 7009).
type Inspector struct {
	Auth  *Service
	Store RevokeStore
}

// The kinds of tokens, as RFC 7662 and 7009 have them in token_type_hint.
const (
	AccessToken  = "access_token"
	RefreshToken = "refresh_token"
)

// Inspection is what is known of a token that works; its zero value is of one
// that does not.
type Inspection struct {
	Active bool
	// Kind is AccessToken or RefreshToken.
	Kind string
	// ID is the jti of an access token, and alike for a refresh token.
	ID        string
	AccountID string
	SessionID string
	Role      actor.Role
	Issuer    string
	Audience  []string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Introspect says what a token is worth now. It is active while a call with it,
// or for a refresh token an exchange of it, would succeed. That an access token
// was shown elsewhere counts as its use: the refresh token before it cannot be
// exchanged any more. What is no token of ours is not active, and no error is.
func (i *Inspector) Introspect(ctx context.Context, token string) (Inspection, error) {
	if id, generation, ok := i.Auth.Keys.Vault.parseRefreshToken(token); ok {
		return i.refresh(ctx, id, generation)
	}
	by, claims, err := i.Auth.Authenticate(ctx, token)
	if fault.KindOf(err) == fault.Unauthenticated {
		return Inspection{}, nil
	}
	if err != nil {
		return Inspection{}, err
	}
	var said accessClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &said); err != nil { // it was verified a moment ago
		return Inspection{}, err
	}
	return Inspection{
		Active: true, Kind: AccessToken, ID: said.ID, AccountID: by.AccountID, SessionID: by.SessionID, Role: by.Role,
		Issuer: said.Issuer, Audience: said.Audience, IssuedAt: said.IssuedAt.Time, ExpiresAt: claims.ExpiresAt,
	}, nil
}

func (i *Inspector) refresh(ctx context.Context, id string, generation int64) (Inspection, error) {
	s, err := i.Auth.Store.Session(ctx, id)
	if err != nil || s.Live(i.Auth.Now()) != nil || !i.Auth.Now().Before(s.IdleAt) || !s.exchanges(generation) {
		return Inspection{}, err
	}
	ends := s.IdleAt
	if s.EndsAt.Before(ends) {
		ends = s.EndsAt
	}
	return Inspection{
		Active: true, Kind: RefreshToken, ID: tokenID(id, generation), AccountID: s.AccountID, SessionID: s.ID, Role: s.Role,
		Issuer: i.Auth.Tokens.issuer, Audience: []string{Audience}, IssuedAt: s.LastUsedAt, ExpiresAt: ends,
	}, nil
}

// exchanges says whether the refresh token of a generation of s can be exchanged:
// the newest, and the one before while nobody has used its successor.
func (s *Session) exchanges(generation int64) bool {
	return generation == s.Generation || generation == s.Generation-1 && s.UsedAt.IsZero()
}

// Revoke ends the session that an access or refresh token belongs to, and returns
// whose it was. What is no token, or ended before, is as good as ended: "".
func (i *Inspector) Revoke(ctx context.Context, by actor.Operator, token string) (accountID string, err error) {
	id, _, ok := i.Auth.Keys.Vault.parseRefreshToken(token)
	if !ok {
		claims, err := i.Auth.Tokens.Verify(token)
		if err != nil {
			return "", nil
		}
		id = claims.SessionID
	}
	return i.Store.RevokeSession(ctx, by, id)
}
