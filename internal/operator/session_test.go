package operator_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"regexp"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// fakeSessionStore holds one token and one session.
type fakeSessionStore struct {
	fakeStore
	session *operator.Session
	hash    []byte
}

func (f *fakeSessionStore) AddOperatorSession(_ context.Context, s operator.Session, hash []byte) error {
	f.session, f.hash = &s, hash
	return nil
}

func (f *fakeSessionStore) OperatorSessionByHash(_ context.Context, hash []byte) (*operator.Session, error) {
	if f.session == nil || !bytes.Equal(hash, f.hash) {
		return nil, nil
	}
	session := *f.session
	session.Token = *f.token
	return &session, nil
}

func (f *fakeSessionStore) EndOperatorSession(context.Context, actor.Operator, string) error {
	f.session = nil
	return nil
}

// TestSession checks that a session lasts 8 h, at most until its token expires or is
// revoked, that it has the scopes of the token, and that only the hash of its secret is
// saved.
func TestSession(t *testing.T) {
	start := time.Unix(1e9, 0)
	for name, tt := range map[string]struct {
		tokenAge time.Duration // of a token of one day
		after    time.Duration
		revoked  bool
		ended    bool
	}{
		"at once":                  {},
		"just before 8 h":          {after: 8*time.Hour - 1},
		"after 8 h":                {after: 8 * time.Hour, ended: true},
		"before the token expires": {tokenAge: 20 * time.Hour, after: 4*time.Hour - 1},
		"the token has expired":    {tokenAge: 20 * time.Hour, after: 4 * time.Hour, ended: true},
		"the token is revoked":     {after: time.Minute, revoked: true, ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			now := start
			s, _ := newService(&now)
			f := new(fakeSessionStore)
			s.Store = f
			token, tokenSecret, err := s.Create(t.Context(), actor.Operator{}, operator.TokenRequest{Name: "desk", Scopes: []operator.Scope{operator.KYC}, Days: 1})
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(tt.tokenAge)
			session, secret, err := s.SignIn(t.Context(), tokenSecret)
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256([]byte(secret)); !regexp.MustCompile(`^tlos_[A-Za-z0-9_-]{43}$`).MatchString(secret) || !bytes.Equal(f.hash, sum[:]) {
				t.Errorf("got the secret %q and saved %x, want tlos_ with 43 characters and the SHA-256", secret, f.hash)
			}
			if session.EndsAt.After(token.EndsAt) {
				t.Errorf("the session ends at %s, after its token", session.EndsAt)
			}
			now = now.Add(tt.after)
			if tt.revoked {
				f.token.RevokedAt = now
			}
			got, err := s.Session(t.Context(), secret)
			switch {
			case tt.ended && fault.CodeOf(err) != "session_revoked":
				t.Errorf("got %v, %v, want session_revoked", got, err)
			case !tt.ended && (err != nil || got.Token.ID != token.ID || !got.Token.HasScope(operator.KYC) || got.Token.HasScope(operator.Audit)):
				t.Errorf("got %+v, %v", got, err)
			}
			if !tt.ended && !f.token.LastUsedAt.Add(5*time.Minute).After(now) {
				t.Errorf("the token was used at %s, want %s", f.token.LastUsedAt, now)
			}
		})
	}
}

// TestSecretsAreNotInterchangeable checks that a token's secret opens no session, that a
// session's secret is not a token, and that signing out ends the session.
func TestSecretsAreNotInterchangeable(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, _ := newService(&now)
	f := new(fakeSessionStore)
	s.Store = f
	_, tokenSecret, err := s.Create(t.Context(), actor.Operator{}, operator.TokenRequest{Name: "desk", Scopes: operator.Scopes, Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := s.SignIn(t.Context(), tokenSecret)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", tokenSecret, secret + "x"} {
		if got, err := s.Session(t.Context(), wrong); fault.CodeOf(err) != "session_revoked" {
			t.Errorf("secret %q: got %v, %v, want session_revoked", wrong, got, err)
		}
		if err := s.SignOut(t.Context(), wrong); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Authenticate(t.Context(), secret); fault.CodeOf(err) != "token_invalid" {
		t.Errorf("a session's secret as a token: got %v, want token_invalid", err)
	}
	if _, _, err := s.SignIn(t.Context(), secret); fault.CodeOf(err) != "token_invalid" {
		t.Errorf("sign-in with a session's secret: got %v, want token_invalid", err)
	}
	if _, err := s.Session(t.Context(), secret); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.SignOut(t.Context(), secret); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Session(t.Context(), secret); fault.CodeOf(err) != "session_revoked" {
		t.Errorf("after signing out: got %v, want session_revoked", err)
	}
}
