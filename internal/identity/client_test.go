package identity_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/platform/webhook"
)

// fakeProvider is an OpenID provider whose answers a test changes.
type fakeProvider struct {
	*httptest.Server
	key *ecdsa.PrivateKey
	kid string
	// signWith signs in place of key, if it is not nil.
	signWith *ecdsa.PrivateKey
	now      time.Time
	// claims change those of the ID token, header its header. token changes the response of the token endpoint, discovery the document.
	claims    func(jwt.MapClaims)
	alg       jwt.SigningMethod
	userInfo  map[string]any
	discovery func(map[string]any)
	token     http.HandlerFunc
	challenge string
}

func newFakeProvider(t *testing.T) *fakeProvider {
	p := &fakeProvider{kid: "1", now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), alg: jwt.SigningMethodES256, claims: func(jwt.MapClaims) {}}
	p.newKey(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		d := map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys", "userinfo_endpoint": p.URL + "/userinfo",
			"id_token_signing_alg_values_supported": []string{"ES256", "none"},
		}
		if p.discovery != nil {
			p.discovery(d)
		}
		writeJSON(w, d)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		x, y := make([]byte, 32), make([]byte, 32)
		p.key.X.FillBytes(x)
		p.key.Y.FillBytes(y)
		encode := base64.RawURLEncoding.EncodeToString
		writeJSON(w, map[string]any{"keys": []any{map[string]any{"kty": "EC", "crv": "P-256", "kid": p.kid, "use": "sig", "alg": "ES256", "x": encode(x), "y": encode(y)}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if p.token != nil {
			p.token(w, r)
			return
		}
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge || r.FormValue("code") != "the-code" {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		writeJSON(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": p.idToken(t)})
	})
	mux.HandleFunc("/userinfo", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer access" || p.userInfo == nil {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		writeJSON(w, p.userInfo)
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (p *fakeProvider) newKey(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p.key = key
}

func (p *fakeProvider) idToken(t *testing.T) string {
	hash := sha256.Sum256([]byte("access"))
	claims := jwt.MapClaims{
		"iss": p.URL, "sub": "person", "aud": "client", "exp": p.now.Add(time.Hour).Unix(), "iat": p.now.Unix(), "nonce": "the-nonce",
		"birthdate": "1985-03-02", "name": "Sunita Sharma", "at_hash": base64.RawURLEncoding.EncodeToString(hash[:16]),
	}
	p.claims(claims)
	token := jwt.NewWithClaims(p.alg, claims)
	token.Header["kid"] = p.kid
	var key any = p.key
	if p.signWith != nil {
		key = p.signWith
	}
	if p.alg == jwt.SigningMethodNone {
		key = jwt.UnsafeAllowNoneSignatureType
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Error(err)
	}
	return text
}

// entry returns the provider of IDENTITY_PROVIDERS.
func (p *fakeProvider) entry() identity.Provider {
	return identity.Provider{Name: "fake", Label: "Fake", Method: identity.OIDC, Issuer: p.URL, ClientID: "client", Scopes: []string{"openid"}, Adult: "birthdate"}
}

var loopback = webhook.Networks{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

var secrets = identity.Secrets{State: "the-state", Nonce: "the-nonce", Verifier: "the-verifier-that-has-at-least-43-characters-in-it"}

// prove goes to the provider and back.
func (p *fakeProvider) prove(t *testing.T, c *identity.Client, entry identity.Provider) (identity.Identity, error) {
	t.Helper()
	address, err := c.AuthURL(t.Context(), entry, secrets)
	if err != nil {
		return identity.Identity{}, err
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	p.challenge = query.Get("code_challenge")
	if query.Get("code_challenge_method") != "S256" || query.Get("state") != "the-state" || entry.Method == identity.OIDC && query.Get("nonce") != "the-nonce" || query.Get("redirect_uri") != "https://touchline.example/proof/callback" {
		t.Errorf("got the address %s", address)
	}
	return c.Prove(t.Context(), entry, "the-code", secrets, "")
}

func (p *fakeProvider) client(networks webhook.Networks) *identity.Client {
	return identity.NewClient(networks, func() time.Time { return p.now }, "https://touchline.example/proof/callback")
}

// TestClientProves: a correct answer proves an adult, from the ID token or from the userinfo endpoint, and after a change of keys.
func TestClientProves(t *testing.T) {
	p := newFakeProvider(t)
	c := p.client(loopback)
	want := identity.Identity{Issuer: p.URL, Subject: "person", Name: "Sunita Sharma", Adult: true}
	if got, err := p.prove(t, c, p.entry()); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	p.kid = "2"
	p.newKey(t)
	if got, err := p.prove(t, c, p.entry()); err != nil || got != want {
		t.Errorf("after a change of keys got %+v, %v", got, err)
	}
	p.claims = func(c jwt.MapClaims) { delete(c, "birthdate") }
	p.userInfo = map[string]any{"sub": "person", "name": "Sunita Sharma", "birthdate": "1985-03-02"}
	if got, err := p.prove(t, c, p.entry()); err != nil || got != want {
		t.Errorf("from the userinfo endpoint got %+v, %v", got, err)
	}
	p.claims = func(c jwt.MapClaims) { delete(c, "name") } // the age is in the ID token, and the name is not
	if got, err := p.prove(t, c, p.entry()); err != nil || got != want {
		t.Errorf("the name from the userinfo endpoint: got %+v, %v", got, err)
	}
	p.userInfo["sub"] = "another"
	if _, err := p.prove(t, c, p.entry()); identity.FailureOf(err) != identity.Untrusted {
		t.Errorf("userinfo of another subject: got %v", err)
	}
}

// TestClientRefuses: each answer that a provider or a stranger made wrong is refused, and says why.
func TestClientRefuses(t *testing.T) {
	set := func(name string, value any) func(*fakeProvider) {
		return func(p *fakeProvider) { p.claims = func(c jwt.MapClaims) { c[name] = value } }
	}
	tests := map[string]struct {
		change func(*fakeProvider)
		want   identity.Failure
	}{
		"another nonce":     {set("nonce", "another"), identity.Untrusted},
		"no nonce":          {func(p *fakeProvider) { p.claims = func(c jwt.MapClaims) { delete(c, "nonce") } }, identity.Untrusted},
		"another audience":  {set("aud", "another"), identity.Untrusted},
		"two audiences":     {set("aud", []string{"client", "another"}), identity.Untrusted},
		"another party":     {set("azp", "another"), identity.Untrusted},
		"another issuer":    {set("iss", "https://another.example"), identity.Untrusted},
		"no subject":        {set("sub", ""), identity.Untrusted},
		"expired":           {func(p *fakeProvider) { set("exp", p.now.Add(-3*time.Minute).Unix())(p) }, identity.Untrusted},
		"from the future":   {func(p *fakeProvider) { set("iat", p.now.Add(time.Hour).Unix())(p) }, identity.Untrusted},
		"hash of the token": {set("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"), identity.Untrusted},
		"alg none":          {func(p *fakeProvider) { p.alg = jwt.SigningMethodNone }, identity.Untrusted},
		"no birth date": {func(p *fakeProvider) {
			p.claims = func(c jwt.MapClaims) { delete(c, "birthdate") }
			p.discovery = func(d map[string]any) { delete(d, "userinfo_endpoint") }
		}, identity.NoAge},
		"birth date of 1900": {set("birthdate", "1900-01-01"), identity.WrongDate},
		"born tomorrow":      {set("birthdate", "2026-11-30"), identity.WrongDate},
		"no date": {func(p *fakeProvider) {
			set("birthdate", "in spring")(p)
			p.discovery = func(d map[string]any) { delete(d, "userinfo_endpoint") }
		}, identity.NoAge},
		"other key": {func(p *fakeProvider) {
			p.signWith, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		}, identity.Untrusted},
		"10 MB token response": {func(p *fakeProvider) {
			p.token = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"access_token":"%s"}`, strings.Repeat("a", 10<<20))
			}
		}, identity.Away},
		"10 MB discovery": {func(p *fakeProvider) {
			p.discovery = func(d map[string]any) { d["more"] = strings.Repeat("a", 10<<20) }
		}, identity.Away},
		"redirect of the token endpoint": {func(p *fakeProvider) {
			p.token = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, p.URL+"/elsewhere", http.StatusTemporaryRedirect)
			}
		}, identity.Away},
		"token refused": {func(p *fakeProvider) {
			p.token = func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			}
		}, identity.Away},
		"no ID token": {func(p *fakeProvider) {
			p.token = func(w http.ResponseWriter, _ *http.Request) {
				writeJSON(w, map[string]any{"access_token": "access", "token_type": "Bearer"})
			}
		}, identity.Untrusted},
		"issuer of the discovery": {func(p *fakeProvider) {
			p.discovery = func(d map[string]any) { d["issuer"] = "https://another.example" }
		}, identity.Away},
		"address without https": {func(p *fakeProvider) {
			p.discovery = func(d map[string]any) { d["authorization_endpoint"] = "http://bank.example/auth" }
		}, identity.Away},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newFakeProvider(t)
			tt.change(p)
			got, err := p.prove(t, p.client(loopback), p.entry())
			if err == nil || identity.FailureOf(err) != tt.want {
				t.Errorf("got %+v, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// TestClientPrivateAddress: a provider at a private address, or that leads to one, is not asked unless its network is allowed.
func TestClientPrivateAddress(t *testing.T) {
	p := newFakeProvider(t)
	if _, err := p.prove(t, p.client(nil), p.entry()); identity.FailureOf(err) != identity.Away || !strings.Contains(err.Error(), "private") {
		t.Errorf("got %v, want a refusal", err)
	}
}

// TestClientClockSkew: clocks may differ by two minutes.
func TestClientClockSkew(t *testing.T) {
	p := newFakeProvider(t)
	p.claims = func(c jwt.MapClaims) {
		c["exp"], c["iat"] = p.now.Add(-time.Minute).Unix(), p.now.Add(time.Minute).Unix()
	}
	if _, err := p.prove(t, p.client(loopback), p.entry()); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestClientAge: who is an adult, by each kind of claim, on 29 November 2026.
func TestClientAge(t *testing.T) {
	verified := func(claims map[string]any) map[string]any {
		return map[string]any{"verification": map[string]any{"trust_framework": "eidas", "assurance_level": "high"}, "claims": claims}
	}
	tests := []struct {
		name, adult string
		claims      map[string]any
		want        bool
		failure     identity.Failure
		assurance   string
	}{
		{"18 today", "birthdate", map[string]any{"birthdate": "2008-11-29"}, true, "", ""},
		{"18 tomorrow", "birthdate", map[string]any{"birthdate": "2008-11-30"}, false, "", ""},
		{"29 February", "birthdate", map[string]any{"birthdate": "2004-02-29", "acr": "loa3"}, true, "", "loa3"},
		{"only the year", "birthdate", map[string]any{"birthdate": "2007"}, true, "", ""},
		{"only the year of 18", "birthdate", map[string]any{"birthdate": "2008"}, false, "", ""},
		{"without the year", "birthdate", map[string]any{"birthdate": "0000-03-02"}, false, identity.NoAge, ""},
		{"boolean", "age_over_18", map[string]any{"age_over_18": true}, true, "", ""},
		{"boolean no", "age_over_18", map[string]any{"age_over_18": false}, false, "", ""},
		{"boolean as text", "age_over_18", map[string]any{"age_over_18": "true"}, false, identity.NoAge, ""},
		{"verified", "verified_claims", map[string]any{"verified_claims": verified(map[string]any{"birthdate": "1985-03-02"})}, true, "", "eidas high"},
		{"verified list", "verified_claims", map[string]any{"verified_claims": []any{verified(map[string]any{"age_over_18": true})}}, true, "", "eidas high"},
		{"verified without age", "verified_claims", map[string]any{"verified_claims": verified(map[string]any{"name": "A"})}, false, identity.NoAge, ""},
		{"verified by none", "verified_claims", map[string]any{"verified_claims": map[string]any{"claims": map[string]any{"birthdate": "1985-03-02"}}}, false, identity.NoAge, ""},
		{"claimed, not verified", "verified_claims", map[string]any{"birthdate": "1985-03-02"}, false, identity.NoAge, ""},
	}
	p := newFakeProvider(t)
	p.discovery = func(d map[string]any) { delete(d, "userinfo_endpoint") }
	c := p.client(loopback)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.claims = func(c jwt.MapClaims) {
				delete(c, "birthdate")
				for name, value := range tt.claims {
					c[name] = value
				}
			}
			entry := p.entry()
			entry.Adult = tt.adult
			got, err := p.prove(t, c, entry)
			if tt.failure != "" {
				if err == nil || identity.FailureOf(err) != tt.failure {
					t.Errorf("got %+v, %v; want %s", got, err, tt.failure)
				}
				return
			}
			if err != nil || got.Adult != tt.want || got.Assurance != tt.assurance {
				t.Errorf("got %+v, %v; want adult %t, assurance %q", got, err, tt.want, tt.assurance)
			}
		})
	}
}

// TestClientDigiLocker: DigiLocker has OAuth 2 with PKCE and an endpoint for the account, whose dob is DDMMYYYY.
func TestClientDigiLocker(t *testing.T) {
	account := map[string]any{"digilockerid": "dl-1", "name": "Sunita Sharma", "dob": "02031985", "eaadhaar": "Y"}
	mux := http.NewServeMux()
	p := &fakeProvider{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge || r.FormValue("client_id") != "client" || r.FormValue("client_secret") != "secret" {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		writeJSON(w, map[string]any{"access_token": "access", "token_type": "Bearer"})
	})
	mux.HandleFunc("/user", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer access" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		writeJSON(w, account)
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	text := fmt.Sprintf(`{"providers": [{"name": "digilocker", "preset": "digilocker", "client_id": "client", "client_secret_file": "secret.txt",
		"authorization_endpoint": "%[1]s/auth", "token_endpoint": "%[1]s/token", "user_endpoint": "%[1]s/user"}]}`, p.URL)
	providers, messages := identity.ParseProviders([]byte(text), func(string) (string, error) { return "secret\n", nil })
	if len(messages) > 0 {
		t.Fatal(messages)
	}
	got, err := p.prove(t, p.client(loopback), providers[0])
	want := identity.Identity{Issuer: p.URL + "/user", Subject: "dl-1", Name: "Sunita Sharma", Adult: true, Assurance: "eaadhaar"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	// The shapes in the OpenAPI description of DigiLocker: another spelling, a number without its first zero, and one level more.
	for name, shape := range map[string]map[string]any{
		"spelling": {"digilockerid": "dl-1", "name": "Sunita Sharma", "dob": "02031985", "gender": "F", "eaadhar": "Y"},
		"number":   {"digilockerid": "dl-1", "name": "Sunita Sharma", "dob": 2031985, "eaadhaar": "Y"},
		"details":  {"details": map[string]any{"digilockerid": "dl-1", "name": "Sunita Sharma", "dob": "02031985", "eaadhaar": "Y"}},
	} {
		documented := account
		account = shape
		if got, err := p.prove(t, p.client(loopback), providers[0]); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		account = documented
	}
	account["dob"] = "30112008"
	if got, err := p.prove(t, p.client(loopback), providers[0]); err != nil || got.Adult {
		t.Errorf("17 years: got %+v, %v", got, err)
	}
	delete(account, "dob")
	if _, err := p.prove(t, p.client(loopback), providers[0]); err == nil || identity.FailureOf(err) != identity.NoAge {
		t.Errorf("without dob: got %v", err)
	}
	delete(account, "digilockerid")
	if _, err := p.prove(t, p.client(loopback), providers[0]); err == nil || identity.FailureOf(err) != identity.Away {
		t.Errorf("without an id: got %v", err)
	}
}

// TestParseProviders: each error in the file is named.
func TestParseProviders(t *testing.T) {
	read := func(path string) (string, error) {
		if path == "missing" {
			return "", fmt.Errorf("no such file")
		}
		return "s3cret\n", nil
	}
	good := `{"providers": [{"name": "bank", "label": "Bank ID", "issuer": "https://id.example", "client_id": "c", "client_secret_file": "f", "adult_claim": "age_over_18"},
		{"name": "digilocker", "preset": "digilocker", "client_id": "d"}]}`
	list, messages := identity.ParseProviders([]byte(good), read)
	if len(messages) > 0 || len(list) != 2 || list[0].ClientSecret != "s3cret" || list[0].Adult != "age_over_18" || list[1].Label != "DigiLocker" || list[1].Method != identity.DigiLocker {
		t.Errorf("got %+v, %v", list, messages)
	}
	for text, want := range map[string]string{
		`[]`:                  "is not the JSON of providers",
		`{"providers": []}`:   "has 0 providers",
		`{"providers": [{}]}`: "/providers/0/issuer must be an https URL",
		`{"providers": [{"name": "A", "label": "A", "issuer": "https://a.example", "client_id": "c"}]}`:                                       "/providers/0/name must have",
		`{"providers": [{"name": "a", "label": "A", "issuer": "http://a.example", "client_id": "c"}]}`:                                        "/providers/0/issuer must be an https URL",
		`{"providers": [{"name": "a", "label": "A", "issuer": "https://a.example", "client_id": "c", "scopes": ["email"]}]}`:                  "/providers/0/scopes must have openid",
		`{"providers": [{"name": "a", "label": "A", "issuer": "https://a.example", "client_id": "c", "client_secret_file": "missing"}]}`:      "/providers/0/client_secret_file cannot be read",
		`{"providers": [{"name": "a", "label": "A", "issuer": "https://a.example", "client_id": "c", "secret": "x"}]}`:                        `unknown field "secret"`,
		`{"providers": [{"name": "a", "preset": "other", "client_id": "c"}]}`:                                                                 "/providers/0/preset must be digilocker",
		`{"providers": [{"name": "a", "preset": "digilocker", "client_id": "c"}, {"name": "a", "preset": "digilocker", "client_id": "c"}]}`:   "/providers/1/name is repeated",
		`{"providers": [{"name": "a", "preset": "digilocker", "client_id": "c"}]} {}`:                                                         "more data after its end",
		`{"providers": [{"name": "a", "label": "A", "issuer": "https://a.example", "client_id": "c", "user_endpoint": "https://a.example"}]}`: "has endpoints",
	} {
		if _, messages := identity.ParseProviders([]byte(text), read); !strings.Contains(strings.Join(messages, "\n"), want) {
			t.Errorf("%s: got %q, want %q", text, messages, want)
		}
	}
}

// TestDigiLockerPreset: the preset has the paths and names of DigiLocker's published OpenAPI description (Authorized Partner API 1.0.0 in
// APIs.guru's directory), whose host is the one for trials.
func TestDigiLockerPreset(t *testing.T) {
	list, messages := identity.ParseProviders([]byte(`{"providers": [{"name": "digilocker", "preset": "digilocker", "client_id": "c"}]}`), nil)
	if len(messages) > 0 {
		t.Fatal(messages)
	}
	const described = "https://betaapi.digitallocker.gov.in/public"
	for path, address := range map[string]string{"/oauth2/1/authorize": list[0].AuthURL, "/oauth2/1/token": list[0].TokenURL, "/oauth2/1/user": list[0].UserURL} {
		if want := strings.Replace(described, "betaapi", "api", 1) + path; address != want {
			t.Errorf("got %s, want %s", address, want)
		}
	}
	p := newFakeProvider(t)
	address, err := p.client(nil).AuthURL(t.Context(), list[0], secrets)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"response_type": "code", "client_id": "c", "redirect_uri": "https://touchline.example/proof/callback", "state": "the-state", "code_challenge_method": "S256"} {
		if got := u.Query().Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
