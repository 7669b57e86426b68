package admin

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

// introspection is the response of RFC 7662, section 2.2. For an invalid token it has
// only active.
type introspection struct {
	Active    bool     `json:"active"`
	TokenType string   `json:"token_type,omitempty"`
	Issuer    string   `json:"iss,omitempty"`
	Audience  []string `json:"aud,omitempty"`
	Subject   string   `json:"sub,omitempty"`
	ClientID  string   `json:"client_id,omitempty"`
	Session   string   `json:"sid,omitempty"`
	Role      string   `json:"role,omitempty"`
	IssuedAt  int64    `json:"iat,omitempty"`
	ExpiresAt int64    `json:"exp,omitempty"`
	ID        string   `json:"jti,omitempty"`
}

// introspect serves POST /auth/introspect (RFC 7662). The audit log counts the calls of a
// token in each minute.
func (s *Server) introspect(ctx context.Context, r Request[url.Values]) (Response, error) {
	token, err := tokenOf(r.Body)
	if err != nil {
		return Response{}, err
	}
	s.Tokens.CountIntrospection(r.Caller.Operator())
	i, err := s.Inspector.Introspect(ctx, token)
	if err != nil {
		return Response{}, err
	}
	if !i.Active {
		return endpoint.OK(introspection{}), nil
	}
	tokenType := "Bearer"
	if i.Kind == auth.RefreshToken {
		tokenType = auth.RefreshToken // a service must not accept it as an access token
	}
	return endpoint.OK(introspection{
		Active: true, TokenType: tokenType, Issuer: i.Issuer, Audience: i.Audience, Subject: i.AccountID, ClientID: auth.ClientID, Session: i.SessionID,
		Role: string(i.Role), IssuedAt: i.IssuedAt.Unix(), ExpiresAt: i.ExpiresAt.Unix(), ID: i.ID,
	}), nil
}

// revoke serves POST /auth/revoke (RFC 7009): it ends the session of the token. An
// unknown token gets the same response.
func (s *Server) revoke(ctx context.Context, r Request[url.Values]) (Response, error) {
	token, err := tokenOf(r.Body)
	if err != nil {
		return Response{}, err
	}
	accountID, err := s.Inspector.Revoke(ctx, r.Caller.Operator(), token)
	if err != nil {
		return Response{}, err
	}
	if accountID != "" {
		s.Streams.Hub.Wake(accountID)
	}
	return Response{}, nil
}

// tokenOf returns the token of a form. It ignores token_type_hint, because the two types
// of tokens look different.
func tokenOf(form url.Values) (string, error) {
	if len(form["token"]) != 1 || len(form["token_type_hint"]) > 1 || form.Get("token") == "" {
		return "", endpoint.MalformedForm("It must have the field token, once.")
	}
	return form.Get("token"), nil
}
