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

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/operator"
)

// drawer keeps one token.
type drawer struct {
	operator.Store
	token *operator.Token
	hash  []byte
	used  []time.Time
}

func (d *drawer) AddToken(_ context.Context, _ actor.Operator, t operator.Token, hash []byte) error {
	d.token, d.hash = &t, hash
	return nil
}

func (d *drawer) TokenByHash(_ context.Context, hash []byte) (*operator.Token, error) {
	if !bytes.Equal(hash, d.hash) {
		return nil, nil
	}
	return d.token, nil
}

func (d *drawer) MarkTokenUsed(_ context.Context, _ string, now, _ time.Time) error {
	d.token.LastUsedAt = now
	d.used = append(d.used, now)
	return nil
}

// desk is a service on an empty drawer, at a time that tests set.
func desk(now *time.Time) (*operator.Service, *drawer) {
	d := new(drawer)
	return &operator.Service{Store: d, Now: func() time.Time { return *now }, NewID: func() string { return "id" }, Rand: rand.Reader}, d
}

// TestWish: what a token may be, and every fault of what it may not be at once.
func TestWish(t *testing.T) {
	kyc := []operator.Scope{operator.KYC}
	for _, tt := range []struct {
		wish operator.Wish
		want string // pointer and code of each fault
	}{
		{operator.Wish{Name: "support desk", Scopes: kyc, Days: 1}, ""},
		{operator.Wish{Name: " मेज़ \u200d ", Scopes: operator.Scopes, Days: operator.MaxDays}, ""},
		{operator.Wish{Name: strings.Repeat("é", operator.MaxName), Scopes: kyc, Days: 90}, ""},
		{operator.Wish{}, "/name required, /scopes required, /days invalid_value"},
		{operator.Wish{Name: " \t", Scopes: kyc, Days: 1}, "/name required"},
		{operator.Wish{Name: strings.Repeat("é", operator.MaxName+1), Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.Wish{Name: "a\nb", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.Wish{Name: "a\x1b[2Jb", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.Wish{Name: "a\u202eb", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.Wish{Name: "a\u2068b", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.Wish{Name: "a\u2028b", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.Wish{Name: "\xff", Scopes: kyc, Days: 1}, "/name invalid_value"},
		// Nobody passes for whoever has a shell.
		{operator.Wish{Name: "shell:root", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.Wish{Name: " shell:root", Scopes: kyc, Days: 1}, "/name invalid_value"},
		{operator.Wish{Name: "x", Scopes: []operator.Scope{"KYC", "consent"}, Days: 1}, "/scopes invalid_value, /scopes invalid_value"},
		{operator.Wish{Name: "x", Scopes: []operator.Scope{""}, Days: 1}, "/scopes invalid_value"},
		{operator.Wish{Name: "x", Scopes: kyc, Days: -1}, "/days invalid_value"},
		{operator.Wish{Name: "x", Scopes: kyc, Days: operator.MaxDays + 1}, "/days invalid_value"},
	} {
		now := time.Unix(1e9, 0)
		s, d := desk(&now)
		_, secret, err := s.Create(t.Context(), actor.Operator{Name: operator.Shell("test")}, tt.wish)
		var got []string
		if e, ok := errors.AsType[*fault.Error](err); ok {
			for _, f := range e.Fields {
				got = append(got, f.Pointer+" "+f.Code)
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%+v: %q, want %q", tt.wish, got, tt.want)
		}
		if (tt.want == "") != (err == nil) || (tt.want == "") != (secret != "" && d.token != nil) {
			t.Errorf("%+v: %v, and %+v is kept", tt.wish, err, d.token)
		}
	}
}

// TestSecret: it is random, shown once, and kept as its hash alone; scopes are kept
// once each, in their order.
func TestSecret(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	for range 100 {
		s, d := desk(&now)
		token, secret, err := s.Create(t.Context(), actor.Operator{}, operator.Wish{
			Name: " desk ", Scopes: []operator.Scope{operator.Audit, operator.KYC, operator.Audit}, Days: 30,
		})
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^tlo_[A-Za-z0-9_-]{43}$`).MatchString(secret) || seen[secret] {
			t.Errorf("the secret is %q", secret)
		}
		seen[secret] = true
		if sum := sha256.Sum256([]byte(secret)); !bytes.Equal(d.hash, sum[:]) || strings.Contains(fmt.Sprintf("%+v", *d.token), secret) {
			t.Errorf("kept %+v, %x", d.token, d.hash)
		}
		if token.Name != "desk" || !slices.Equal(token.Scopes, []operator.Scope{operator.KYC, operator.Audit}) || !token.EndsAt.Equal(time.Date(2026, 4, 27, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v", token)
		}
	}
	s, _ := desk(&now)
	s.Rand = strings.NewReader("too short")
	if _, secret, err := s.Create(t.Context(), actor.Operator{}, operator.Wish{Name: "x", Scopes: operator.Scopes, Days: 1}); err == nil || secret != "" {
		t.Errorf("without randomness: %q, %v", secret, err)
	}
}

// TestAuthenticate: a token works until its end or its revocation, for its scopes
// alone; that it was used is noted now and then.
func TestAuthenticate(t *testing.T) {
	now := time.Unix(1e9, 0)
	s, d := desk(&now)
	token, secret, err := s.Create(t.Context(), actor.Operator{}, operator.Wish{Name: "x", Scopes: []operator.Scope{operator.Coaches}, Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range []string{"", "", "", ""} {
		now = token.CreatedAt.Add(time.Duration(after) * 2 * time.Minute)
		if _, err := s.Authenticate(t.Context(), secret); fault.CodeOf(err) != want {
			t.Errorf("after %d: %v", after, err)
		}
	}
	if len(d.used) != 2 { // at once, and when that was 5 minutes ago
		t.Errorf("noted %v", d.used)
	}
	for _, wrong := range []string{"", "tlo_", secret + "x", secret[:len(secret)-1], strings.TrimPrefix(secret, "tlo_"), strings.ToLower(secret)} {
		if _, err := s.Authenticate(t.Context(), wrong); fault.CodeOf(err) != "token_invalid" {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for _, scope := range operator.Scopes {
		err := s.Admit(token, scope)
		if e, ok := errors.AsType[*fault.Error](err); (err == nil) != (scope == operator.Coaches) || ok && (e.Code != "insufficient_scope" || e.Extra["scope"] != string(scope)) {
			t.Errorf("%s: %v", scope, err)
		}
	}
	now = token.EndsAt.Add(-1)
	if _, err := s.Authenticate(t.Context(), secret); err != nil {
		t.Error(err)
	}
	d.token.RevokedAt = now
	if _, err := s.Authenticate(t.Context(), secret); fault.CodeOf(err) != "token_invalid" {
		t.Errorf("revoked: %v", err)
	}
	d.token.RevokedAt, now = time.Time{}, token.EndsAt
	if _, err := s.Authenticate(t.Context(), secret); fault.CodeOf(err) != "token_invalid" {
		t.Errorf("ended: %v", err)
	}
}
