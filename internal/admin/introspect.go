package admin

import (
	"net/http"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wire"
)

// introspection is an answer of RFC 7662, section 2.2. Of a token that does not
// work nothing is said but that.
type introspection struct {
	Active    bool     `json:"active"`
	TokenType string   `json:"token_type,omitempty"`
	Issuer    string   `json:"iss,omitempty"`
	Audience  []string `json:"aud,omitempty"`
	Subject   string   `json:"sub,omitempty"`
	Session   string   `json:"sid,omitempty"`
	Role      string   `json:"role,omitempty"`
	IssuedAt  int64    `json:"iat,omitempty"`
	ExpiresAt int64    `json:"exp,omitempty"`
	ID        string   `json:"jti,omitempty"`
}

// introspect serves POST /auth/introspect (RFC 7662).
func (s *Server) introspect(w http.ResponseWriter, r *http.Request) error {
	token, err := presented(r)
	if err != nil {
		return err
	}
	i, err := s.Inspector.Introspect(r.Context(), token)
	if err != nil || !i.Active {
		if err != nil {
			return err
		}
		return wire.Encode(w, http.StatusOK, introspection{})
	}
	kind := "Bearer"
	if i.Kind == auth.RefreshToken {
		kind = auth.RefreshToken // nobody must take one for the other
	}
	return wire.Encode(w, http.StatusOK, introspection{
		Active: true, TokenType: kind, Issuer: i.Issuer, Audience: i.Audience, Subject: i.AccountID, Session: i.SessionID,
		Role: string(i.Role), IssuedAt: i.IssuedAt.Unix(), ExpiresAt: i.ExpiresAt.Unix(), ID: i.ID,
	})
}

// revoke serves POST /auth/revoke (RFC 7009): the session of the token ends. A
// token that means nothing is answered alike.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) error {
	token, err := presented(r)
	if err != nil {
		return err
	}
	accountID, err := s.Inspector.Revoke(r.Context(), callOf(r).operator(), token)
	if err != nil {
		return err
	}
	if accountID != "" {
		s.Wake(accountID)
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// presented returns the form's token. token_type_hint is not needed: the two
// kinds do not look alike.
func presented(r *http.Request) (string, error) {
	form := callOf(r).form
	if len(form["token"]) != 1 || len(form["token_type_hint"]) > 1 || form.Get("token") == "" {
		return "", errForm("It must have the field token, once.")
	}
	return form.Get("token"), nil
}

// errForm names the error as RFC 6749, section 5.2, does, too.
func errForm(why string) error {
	return fault.New(fault.Malformed, "malformed_request", "The body must be a form. %s", why).With("error", "invalid_request")
}
