package operator_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// fakeStore holds one token.
type fakeStore struct {
	operator.Store
	token *operator.Token
	hash  []byte
	used  []time.Time
	// readErr and writeErr are what reads and writes return.
	readErr, writeErr error
}

func (f *fakeStore) AddToken(_ context.Context, _ actor.Operator, t operator.Token, hash []byte) error {
	f.token, f.hash = &t, hash
	return nil
}

func (f *fakeStore) TokenByHash(_ context.Context, hash []byte) (*operator.Token, error) {
	if f.readErr != nil {
		return nil, f.readErr
	}
	if !bytes.Equal(hash, f.hash) {
		return nil, nil
	}
	return f.token, nil
}

func (f *fakeStore) MarkTokenUsed(_ context.Context, _ string, now, _ time.Time) error {
	if f.writeErr != nil {
		return f.writeErr
	}
	f.token.LastUsedAt = now
	f.used = append(f.used, now)
	return nil
}

// newService returns a service with an empty fake store and the clock now.
func newService(now *time.Time) (*operator.Service, *fakeStore) {
	f := new(fakeStore)
	return &operator.Service{Store: f, Now: func() time.Time { return *now }, NewID: func() string { return "id" }, Rand: rand.Reader}, f
}

// TestCreateValidatesRequest checks that Create reports every fault at once.
func TestCreateValidatesRequest(t *testing.T) {
	kyc := []operator.Scope{operator.KYC}
	for _, tt := range []struct {
		request operator.TokenRequest
		want    string // pointer and code of each fault
	}{
		{operator.TokenRequest{Name: "support desk", Scopes: kyc, Days: 1}, ""},
		{operator.TokenRequest{Name: " मेज़ \u200d ", Scopes: operator.Scopes, Days: operator.MaxDays}, ""},
		{operator.TokenRequest{Name: strings.Repeat("é", operator.MaxName), Scopes: kyc, Days: 90}, ""},
		{operator.TokenRequest{}, "/name required, /scopes required, /days invalid_value"},
		{operator.TokenRequest{Name: " \t", Scopes: kyc, Days: 1}, "/name required"},
		{operator.TokenRequest{Name: strings.Repeat("é", operator.MaxName+1), Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "a\nb", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "a\x1b[2Jb", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "a\u202eb", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "a\u2068b", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "a\u2028b", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "\xff", Scopes: kyc, Days: 1}, "/name invalid_value"},
		// A token cannot have the name of a shell user.
		{operator.TokenRequest{Name: "shell:root", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: " shell:root", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "\u200dshell:root", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "Shell:root", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "a\u200fb", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.TokenRequest{Name: "\u200d\u3164-", Scopes: kyc, Days: 1}, "/name required"},
		{operator.TokenRequest{Name: "x", Scopes: []operator.Scope{"KYC", "consent"}, Days: 1}, "/scopes invalid_value, /scopes invalid_value"},
		{operator.TokenRequest{Name: "x", Scopes: []operator.Scope{""}, Days: 1}, "/scopes invalid_value"},
		{operator.TokenRequest{Name: "x", Scopes: kyc, Days: -1}, "/days invalid_value"},
		{operator.TokenRequest{Name: "x", Scopes: kyc, Days: operator.MaxDays + 1}, "/days invalid_value"},
	} {
		now := time.Unix(1e9, 0)
		s, f := newService(&now)
		_, secret, err := s.Create(t.Context(), actor.Operator{Name: operator.ShellName("test")}, tt.request)
		var got []string
		if e, ok := errors.AsType[*fault.Error](err); ok {
			for _, field := range e.Fields {
				got = append(got, field.Pointer+" "+field.Code)
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%+v: faults %q, want %q", tt.request, got, tt.want)
		}
		if (tt.want == "") != (err == nil) || (tt.want == "") != (secret != "" && f.token != nil) {
			t.Errorf("%+v: error %v, saved token %+v", tt.request, err, f.token)
		}
	}
}

// TestCreateStoresHashOnly checks that the secret is random, that only its hash is
// saved, and that scopes are sorted without duplicates.
func TestCreateStoresHashOnly(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	for range 100 {
		s, f := newService(&now)
		token, secret, err := s.Create(t.Context(), actor.Operator{}, operator.TokenRequest{
			Name: " desk ", Scopes: []operator.Scope{operator.Audit, operator.KYC, operator.Audit}, Days: 30,
		})
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^tlo_[A-Za-z0-9_-]{43}$`).MatchString(secret) || seen[secret] {
			t.Errorf("got the secret %q, want a new one of the form tlo_ and 43 characters", secret)
		}
		seen[secret] = true
		if sum := sha256.Sum256([]byte(secret)); !bytes.Equal(f.hash, sum[:]) || strings.Contains(fmt.Sprintf("%+v", *f.token), secret) {
			t.Errorf("saved %+v with the hash %x, want the SHA-256 of the secret only", f.token, f.hash)
		}
		if token.Name != "desk" || !slices.Equal(token.Scopes, []operator.Scope{operator.KYC, operator.Audit}) || !token.EndsAt.Equal(time.Date(2026, 4, 27, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("got the token %+v", token)
		}
	}
	s, _ := newService(&now)
	s.Rand = strings.NewReader("too short")
	if _, secret, err := s.Create(t.Context(), actor.Operator{}, operator.TokenRequest{Name: "x", Scopes: operator.Scopes, Days: 1}); err == nil || secret != "" {
		t.Errorf("got %q, %v without randomness, want an error", secret, err)
	}
}

// TestAuthenticate checks that a token works until it expires or is revoked, only
// for its scopes, and that LastUsedAt is saved every 5 minutes at most.
func TestAuthenticate(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, f := newService(&now)
	token, secret, err := s.Create(t.Context(), actor.Operator{}, operator.TokenRequest{Name: "x", Scopes: []operator.Scope{operator.Coaches}, Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range []string{"", "", "", ""} {
		now = token.CreatedAt.Add(time.Duration(after) * 2 * time.Minute)
		if _, err := s.Authenticate(t.Context(), secret); fault.CodeOf(err) != want {
			t.Errorf("call %d: got %v, want the code %q", after, err, want)
		}
	}
	if len(f.used) != 2 { // at 0 and at 6 minutes
		t.Errorf("saved the uses %v, want 2", f.used)
	}
	for _, wrong := range []string{"", "tlo_", secret + "x", secret[:len(secret)-1], strings.TrimPrefix(secret, "tlo_"), strings.ToLower(secret)} {
		if _, err := s.Authenticate(t.Context(), wrong); fault.CodeOf(err) != "token_invalid" {
			t.Errorf("secret %q: got %v, want token_invalid", wrong, err)
		}
	}
	for _, scope := range operator.Scopes {
		err := s.RequireScope(token, scope)
		if e, ok := errors.AsType[*fault.Error](err); (err == nil) != (scope == operator.Coaches) || ok && (e.Code != "insufficient_scope" || e.Extra["scope"] != string(scope)) {
			t.Errorf("scope %s: got %v", scope, err)
		}
	}
	now = token.EndsAt.Add(-1)
	if _, err := s.Authenticate(t.Context(), secret); err != nil {
		t.Error(err)
	}
	f.token.RevokedAt = now
	if _, err := s.Authenticate(t.Context(), secret); fault.CodeOf(err) != "token_invalid" {
		t.Errorf("revoked: got %v, want token_invalid", err)
	}
	f.token.RevokedAt, now = time.Time{}, token.EndsAt
	if _, err := s.Authenticate(t.Context(), secret); fault.CodeOf(err) != "token_invalid" {
		t.Errorf("expired: got %v, want token_invalid", err)
	}
}

// TestAuthenticateScrape checks that a verified token works for 24 h without the
// database, only for AuthenticateScrape, and that a revoked one ends at once.
func TestAuthenticateScrape(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, f := newService(&now)
	token, secret, err := s.Create(t.Context(), actor.Operator{}, operator.TokenRequest{Name: "x", Scopes: []operator.Scope{operator.Metrics}, Days: 2})
	if err != nil {
		t.Fatal(err)
	}
	down := fault.Down(errors.New("connection refused"))
	scrape := func(when, secret, want string) {
		t.Helper()
		got, err := s.AuthenticateScrape(t.Context(), secret)
		if fault.CodeOf(err) != want || want == "" && got.ID != token.ID {
			t.Errorf("%s: got %v, %v, want the code %q", when, got, err, want)
		}
	}
	f.readErr = down
	scrape("before any check", secret, "unavailable")
	f.readErr, f.writeErr = nil, down
	scrape("database without writes", secret, "")
	f.readErr = down
	scrape("database unavailable", secret, "")
	scrape("database unavailable, another secret", secret+"x", "unavailable")
	if _, err := s.Authenticate(t.Context(), secret); fault.CodeOf(err) != "unavailable" {
		t.Errorf("Authenticate without the database: got %v, want unavailable", err)
	}
	now = now.Add(24*time.Hour - 1)
	scrape("just before 24 h", secret, "")
	now = now.Add(1)
	scrape("after 24 h", secret, "unavailable")
	f.readErr = nil
	scrape("database back", secret, "")
	now = token.EndsAt
	f.readErr = down
	scrape("expired, database unavailable", secret, "unavailable")
	now = token.EndsAt.Add(-1)
	f.readErr, f.token.RevokedAt = nil, now
	scrape("revoked", secret, "token_invalid")
	f.readErr = down
	scrape("revoked, database unavailable", secret, "unavailable")
}
