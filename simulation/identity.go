package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// identityProvider says at an OpenID Connect address on loopback who is an adult.
type identityProvider struct {
	network *network
	server  *httptest.Server
	key     *ecdsa.PrivateKey
	nonce   string
	says    saying
}

// saying is what the provider says about the next person.
type saying string

const (
	adult      saying = "adult"
	minor      saying = "minor"
	away       saying = "away"        // answers 502
	otherNonce saying = "other nonce" // a token of another attempt
	otherKey   saying = "other key"   // a token that another key signed
)

func newIdentityProvider(n *network) *identityProvider {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	orPanic(err)
	p := &identityProvider{network: n, key: key}
	p.server = httptest.NewServer(p)
	return p
}

// file writes the setting IDENTITY_PROVIDERS.
func (p *identityProvider) file(dir string) string {
	name := filepath.Join(dir, "identity.json")
	orPanic(os.WriteFile(name, fmt.Appendf(nil, `{"providers": [{"name": "bank", "label": "Bank ID", "issuer": "%s", "client_id": "client"}]}`, p.server.URL), 0o600))
	return name
}

func (p *identityProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.network.mu.Lock()
	defer p.network.mu.Unlock()
	var answer object
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer = object{"issuer": p.server.URL, "authorization_endpoint": p.server.URL + "/auth", "token_endpoint": p.server.URL + "/token", "jwks_uri": p.server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}}
	case "/keys":
		point, err := p.key.PublicKey.Bytes()
		orPanic(err)
		encode := base64.RawURLEncoding.EncodeToString
		answer = object{"keys": []object{{"kty": "EC", "crv": "P-256", "kid": "1", "use": "sig", "x": encode(point[1:33]), "y": encode(point[33:])}}}
	default:
		if p.says == away {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		answer = object{"access_token": "access", "token_type": "Bearer", "id_token": p.token()}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the service may be gone
}

func (p *identityProvider) token() string {
	now, born, nonce, key := p.network.run.clock.now, "1985-03-02", p.nonce, p.key
	switch p.says {
	case minor:
		born = now.AddDate(-17, 0, 0).Format(time.DateOnly)
	case otherNonce:
		nonce = "of another attempt"
	case otherKey:
		var err error
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		orPanic(err)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": p.server.URL, "sub": "person", "aud": "client", "exp": now.Add(hour).Unix(), "iat": now.Unix(), "nonce": nonce, "birthdate": born, "name": "MEERA MEHTA",
	})
	token.Header["kid"] = "1"
	text, err := token.SignedString(key)
	orPanic(err)
	return text
}

// proveAdult is a guardian who proves to be an adult, and sometimes takes that back.
func proveAdult(r *Run) string {
	p, s := aParty(r, func(p *party) bool { return p.role == "guardian" && !p.player.adult(r.clock.now) })
	if s == nil {
		return nothing
	}
	provider, state := r.network.identity, func() string { return text(r.want(s, "GET", "/api/approval/proof", nil, 200).JSON["state"]) }
	if state() == "valid" {
		r.want(s, "DELETE", "/api/approval/proof", nil, 204)
		if state() == "valid" {
			r.fail("a person who takes a proof back has none", "%s", p)
		}
	}
	begun := r.call(s, "POST", "/api/approval/proof", object{"player_id": p.player.id, "provider": "bank"})
	if begun.Status != 201 {
		if wait := r.clock.now.Sub(s.person.minor); wait > hour+2*maxSkew || begun.Status != 429 {
			r.mustBe(begun, "begin a proof", 201, "")
		}
		return "too soon after another one"
	}
	provider.says = one(r, []saying{adult, adult, minor, away, otherNonce, otherKey})
	b := &browser{run: r}
	asked := local(text(begun.JSON["url"]))
	b.open("GET", asked+"/provider", nil)
	if strings.HasPrefix(b.location, provider.server.URL) {
		r.fail("an app's address leads nowhere before it says whose number it is about", "%q", b.location)
	}
	b.open("GET", asked, nil)
	b.open("GET", asked+"/provider", nil)
	at, err := url.Parse(b.location)
	if err != nil || !strings.HasPrefix(b.location, provider.server.URL) {
		r.fail("an app leads to the provider", "%d %q", b.status, b.location)
	}
	provider.nonce = at.Query().Get("nonce")
	back := "/proof/callback?" + url.Values{"state": {at.Query().Get("state")}, "code": {"code"}}.Encode()
	b.open("GET", back, nil)
	for range r.random.IntN(2) { // as by a double tap
		b.open("GET", back, nil)
	}
	if provider.says == minor {
		s.person.minor = r.clock.now
	}
	now := state()
	if now == "valid" && provider.says != adult || now != "valid" && provider.says == adult && !b.retried {
		r.fail("a person is proved to be an adult exactly if the provider says so about this attempt", "%s, the provider says %s: %s", p, provider.says, now)
	}
	return fmt.Sprintf("%s, %s: %s", p, provider.says, now)
}
