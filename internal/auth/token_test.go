package auth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	issuer    = "https://touchline.example"
	sessionID = "0198a1b2-0000-7000-8000-000000000001"
	accountID = "0198a1b2-0000-7000-8000-000000000002"
)

func session() *auth.Session {
	return &auth.Session{ID: sessionID, AccountID: accountID, Role: actor.Guardian, Number: "+919812345678", Generation: 3}
}

func access(t *testing.T, tokens *auth.Tokens) string {
	t.Helper()
	token, err := tokens.Access(session())
	if err != nil {
		t.Fatal(err)
	}
	return token
}

type tokenHeader struct{ Alg, Typ, Kid string }

func header(t *testing.T, token string) (h tokenHeader) {
	t.Helper()
	part(t, token, 0, &h)
	return h
}

// part decodes the JSON of a token's nth part.
func part(t *testing.T, token string, n int, into any) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[n])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// codeOf returns the code of a fault, or "" for nil.
func codeOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestAccessTokenClaims checks the header and all claims.
func TestAccessTokenClaims(t *testing.T) {
	clock := newClock()
	keys := openKeys(t, new(fakeKeyStore), clock.Now)
	tokens := auth.NewTokens(keys, issuer, 15*time.Minute, clock.Now)
	token := access(t, tokens)

	if got, want := header(t, token), (tokenHeader{"ES256", "at+jwt", published(t, keys)[0]}); got != want {
		t.Errorf("header %+v, want %+v", got, want)
	}
	var got map[string]any
	part(t, token, 1, &got)
	want := map[string]any{
		"iss": issuer, "aud": []any{"touchline"}, "sub": accountID, "sid": sessionID, "role": "guardian", "client_id": "touchline",
		"iat": float64(start.Unix()), "exp": float64(start.Add(15 * time.Minute).Unix()), "jti": sessionID + ".3",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("claims %v, want %v", got, want)
	}
	claims, err := tokens.Verify(token)
	if err != nil {
		t.Fatal(err)
	}
	expires := claims.ExpiresAt
	claims.ExpiresAt = time.Time{}
	if claims != (auth.Claims{AccountID: accountID, SessionID: sessionID, Role: actor.Guardian, Generation: 3}) ||
		!expires.Equal(start.Add(15*time.Minute)) {
		t.Errorf("verified %+v until %s", claims, expires)
	}
}

// TestVerifyRefusesForgery tests tokens of other keys, and tokens of this service's key
// that are not valid access tokens (RFC 8725).
func TestVerifyRefusesForgery(t *testing.T) {
	clock, store := newClock(), new(fakeKeyStore)
	keys := openKeys(t, store, clock.Now)
	tokens := auth.NewTokens(keys, issuer, 15*time.Minute, clock.Now)
	kid := published(t, keys)[0]
	ours := keys.SigningKey()
	theirs, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{
		"iss": issuer, "aud": "touchline", "sub": accountID, "sid": sessionID, "role": "guardian",
		"iat": start.Unix(), "exp": start.Add(time.Minute).Unix(), "jti": sessionID + ".3",
	}
	type forgery struct {
		method jwt.SigningMethod
		key    any
		header map[string]any
		claims map[string]any // nil leaves a claim out
	}
	sign := func(t *testing.T, f forgery) string {
		t.Helper()
		if f.method == nil {
			f.method, f.key = jwt.SigningMethodES256, ours
		}
		c := maps.Clone(claims)
		for name, value := range f.claims {
			if c[name] = value; value == nil {
				delete(c, name)
			}
		}
		token := jwt.NewWithClaims(f.method, c)
		token.Header["typ"], token.Header["kid"] = "at+jwt", kid
		maps.Copy(token.Header, f.header)
		signed, err := token.SignedString(f.key)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	tests := map[string]struct {
		forgery
		want string
	}{
		"valid":                   {want: ""},
		"type in capitals":        {forgery{header: map[string]any{"typ": "AT+JWT"}}, ""},
		"several audiences":       {forgery{claims: map[string]any{"aud": []string{"other", "touchline"}}}, ""},
		"alg none":                {forgery{method: jwt.SigningMethodNone, key: jwt.UnsafeAllowNoneSignatureType}, "token_invalid"},
		"HMAC with the key ID":    {forgery{method: jwt.SigningMethodHS256, key: []byte(kid)}, "token_invalid"},
		"key of another service":  {forgery{method: jwt.SigningMethodES256, key: theirs}, "token_invalid"},
		"unknown key ID":          {forgery{header: map[string]any{"kid": "es256-20200101"}}, "token_invalid"},
		"key ID is a number":      {forgery{header: map[string]any{"kid": 1}}, "token_invalid"},
		"type JWT":                {forgery{header: map[string]any{"typ": "JWT"}}, "token_invalid"},
		"type missing":            {forgery{header: map[string]any{"typ": nil}}, "token_invalid"},
		"other audience":          {forgery{claims: map[string]any{"aud": "other"}}, "token_invalid"},
		"no audience":             {forgery{claims: map[string]any{"aud": nil}}, "token_invalid"},
		"other issuer":            {forgery{claims: map[string]any{"iss": "https://other.example"}}, "token_invalid"},
		"no issuer":               {forgery{claims: map[string]any{"iss": nil}}, "token_invalid"},
		"no expiry":               {forgery{claims: map[string]any{"exp": nil}}, "token_invalid"},
		"expired":                 {forgery{claims: map[string]any{"exp": start.Unix()}}, "token_expired"},
		"expired and forged":      {forgery{method: jwt.SigningMethodES256, key: theirs, claims: map[string]any{"exp": 1}}, "token_invalid"},
		"no subject":              {forgery{claims: map[string]any{"sub": nil}}, "token_invalid"},
		"no role":                 {forgery{claims: map[string]any{"role": nil}}, "token_invalid"},
		"unknown role":            {forgery{claims: map[string]any{"role": "operator"}}, "token_invalid"},
		"no session":              {forgery{claims: map[string]any{"sid": nil}}, "token_invalid"},
		"two sessions":            {forgery{claims: map[string]any{"sid": accountID}}, "token_invalid"},
		"no generation":           {forgery{claims: map[string]any{"jti": sessionID}}, "token_invalid"},
		"generation not a number": {forgery{claims: map[string]any{"jti": sessionID + ".x"}}, "token_invalid"},
		"too long":                {forgery{claims: map[string]any{"more": strings.Repeat("x", 2048)}}, "token_invalid"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			token := sign(t, tt.forgery)
			for range 2 { // a refused token is not cached
				if _, err := tokens.Verify(token); codeOf(err) != tt.want {
					t.Errorf("got the code %q, want %q", codeOf(err), tt.want)
				}
			}
		})
	}

	token := access(t, tokens)
	parts := strings.Split(token, ".")
	for i := range parts {
		for _, at := range []int{0, len(parts[i]) / 2, len(parts[i]) - 1} {
			changed := slices.Clone(parts)
			b := []byte(parts[i])
			b[at] ^= 1
			changed[i] = string(b)
			if _, err := tokens.Verify(strings.Join(changed, ".")); codeOf(err) != "token_invalid" {
				t.Errorf("part %d changed at %d: got %v, want token_invalid", i, at, err)
			}
		}
	}
	for _, garbage := range []string{"", ".", "..", "a.b.c", token + ".", token + "=", " " + token, token + "\n", token[:len(token)-9] + "\r\n" + token[len(token)-9:], strings.Repeat("a", 1<<16)} {
		if _, err := tokens.Verify(garbage); codeOf(err) != "token_invalid" {
			t.Errorf("token %.20q: got %v, want token_invalid", garbage, err)
		}
	}
}

// TestVerifyWithoutURL checks that replicas without a configured URL accept each
// other's tokens, and that a replica with one does not.
func TestVerifyWithoutURL(t *testing.T) {
	clock := newClock()
	keys := openKeys(t, new(fakeKeyStore), clock.Now)
	token := access(t, auth.NewTokensWithoutURL(keys, "http://127.0.0.1:8080", time.Minute, clock.Now))
	if _, err := auth.NewTokensWithoutURL(keys, "http://127.0.0.1:9090", time.Minute, clock.Now).Verify(token); err != nil {
		t.Errorf("another replica without a URL: got %v", err)
	}
	if _, err := auth.NewTokens(keys, issuer, time.Minute, clock.Now).Verify(token); codeOf(err) != "token_invalid" {
		t.Errorf("a replica with a URL: got %v, want token_invalid", err)
	}
}

// TestVerifyCachedTokenExpires checks that a cached token expires on time.
func TestVerifyCachedTokenExpires(t *testing.T) {
	clock := newClock()
	tokens := auth.NewTokens(openKeys(t, new(fakeKeyStore), clock.Now), issuer, 15*time.Minute, clock.Now)
	token := access(t, tokens)
	clock.advance(15*time.Minute - time.Second)
	if _, err := tokens.Verify(token); err != nil {
		t.Fatal(err)
	}
	clock.advance(time.Second)
	if _, err := tokens.Verify(token); codeOf(err) != "token_expired" {
		t.Errorf("expired token: %v, want token_expired", err)
	}
}

// TestVerifyCacheIsBounded checks that many tokens cannot exhaust the memory, and
// that the newest stay in the cache.
func TestVerifyCacheIsBounded(t *testing.T) {
	clock := newClock()
	tokens := auth.NewTokens(openKeys(t, new(fakeKeyStore), clock.Now), issuer, time.Hour, clock.Now)
	key := func(n int) [32]byte { return [32]byte{byte(n), byte(n >> 8), byte(n >> 16)} }
	for n := range 3 * auth.CacheSize {
		if !tokens.CacheClaims(key(n), auth.Claims{Generation: int64(n)}) {
			t.Fatal("the cache does not hold the token just added")
		}
		if held := tokens.Cached(); held > auth.CacheSize {
			t.Fatalf("the cache holds %d tokens, want at most %d", held, auth.CacheSize)
		}
	}
	if tokens.IsCached(key(0)) {
		t.Error("the cache still holds the oldest token")
	}
}

func FuzzVerify(f *testing.F) {
	clock := newClock()
	keys, err := auth.OpenKeys(f.Context(), new(fakeKeyStore), masterKey, clock.Now)
	if err != nil {
		f.Fatal(err)
	}
	tokens := auth.NewTokens(keys, issuer, time.Hour, clock.Now)
	token, err := tokens.Access(session())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.e30.")
	f.Add("..")
	f.Add(strings.Repeat("A.", 1024))
	f.Fuzz(func(t *testing.T, s string) {
		claims, err := tokens.Verify(s)
		switch {
		case s == token && err != nil:
			t.Fatal(err)
		case s != token && err == nil:
			t.Fatalf("%q was accepted as %+v", s, claims)
		case err != nil && (codeOf(err) != "token_invalid" || claims != auth.Claims{}):
			t.Fatalf("%q: %+v, %v", s, claims, err)
		}
	})
}
