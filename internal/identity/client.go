package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/touchline/touchline/internal/platform/webhook"
)

const (
	// maxDocument limits what is read of a provider's response, in bytes.
	maxDocument = 256 << 10
	// clockSkew is how far the clocks of a provider and of this service may differ.
	clockSkew = 2 * time.Minute
	// discoveredFor is how long the addresses of a provider are kept. Its keys are read again whenever an unknown one signs.
	discoveredFor = time.Hour
	// callTimeout limits all requests to a provider for one proof.
	callTimeout = 8 * time.Second
)

// Client sends requests to providers. It is safe for concurrent use.
type Client struct {
	http     *http.Client
	now      func() time.Time
	callback string

	mu    sync.Mutex
	found map[string]discovered
}

// discovered is a provider with its addresses.
type discovered struct {
	*oidc.Provider
	at time.Time
}

// NewClient returns a Client. Providers with private addresses must be in networks. callback is the address to which providers
// send people back.
func NewClient(networks webhook.Networks, now func() time.Time, callback string) *Client {
	return &Client{
		http: &http.Client{
			Transport: guarded{webhook.NewClient(networks)}, Timeout: callTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now: now, callback: callback, found: map[string]discovered{},
	}
}

// guarded is the transport of webhooks, which checks each address, follows no redirect, and here limits each body.
type guarded struct{ client *webhook.Client }

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := g.client.Do(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &limitedBody{resp.Body, maxDocument}
	return resp, nil
}

// limitedBody fails when more is read than left bytes.
type limitedBody struct {
	io.ReadCloser
	left int
}

var errTooLarge = errors.New("the document is too large")

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// Secrets bind the answer of a provider to one attempt.
type Secrets struct {
	// State comes back with the browser, Nonce in the token. Verifier is that of PKCE.
	State, Nonce, Verifier string
}

// AuthURL returns the address at which the person proves to be an adult. Errors: *Error.
func (c *Client) AuthURL(ctx context.Context, p Provider, s Secrets) (string, error) {
	if p.Play != nil {
		return p.AuthURL + "?" + url.Values{"state": {s.State}}.Encode(), nil
	}
	ctx, cancel := c.context(ctx)
	defer cancel()
	config, _, err := c.config(ctx, p)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(s.Verifier)}
	if p.Method == OIDC {
		options = append(options, oidc.Nonce(s.Nonce))
		if p.Adult == verifiedClaims {
			options = append(options, oauth2.SetAuthURLParam("claims", verifiedRequest))
		}
	}
	return config.AuthCodeURL(s.State, options...), nil
}

// verifiedRequest asks for verified_claims (OpenID Connect for Identity Assurance, section 6).
const verifiedRequest = `{"userinfo":{"verified_claims":{"verification":{"trust_framework":null},"claims":{"birthdate":null,"name":null}}},` +
	`"id_token":{"verified_claims":{"verification":{"trust_framework":null},"claims":{"birthdate":null,"name":null}}}}`

// Prove exchanges the code of a provider and returns what it says about the person. entered is the name that the coach
// entered, for Provider.Play alone. Errors: *Error.
func (c *Client) Prove(ctx context.Context, p Provider, code string, s Secrets, entered string) (Identity, error) {
	if p.Play != nil {
		return p.Play(code, entered)
	}
	ctx, cancel := c.context(ctx)
	defer cancel()
	config, provider, err := c.config(ctx, p)
	if err != nil {
		return Identity{}, err
	}
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(s.Verifier))
	if err != nil {
		return Identity{}, failed(Away, err)
	}
	if p.Method == DigiLocker {
		return c.digiLockerUser(ctx, p, token)
	}
	return c.openIDUser(ctx, p, provider, token, s)
}

// context returns a context with the client and the time limit of calls to a provider.
func (c *Client) context(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(oidc.ClientContext(ctx, c.http), callTimeout)
}

// config returns the client of a provider, and the provider if it has OpenID Connect.
func (c *Client) config(ctx context.Context, p Provider) (*oauth2.Config, *oidc.Provider, error) {
	config := &oauth2.Config{ClientID: p.ClientID, ClientSecret: p.ClientSecret, Scopes: p.Scopes, RedirectURL: c.callback}
	if p.Method == DigiLocker {
		config.Endpoint = oauth2.Endpoint{AuthURL: p.AuthURL, TokenURL: p.TokenURL, AuthStyle: oauth2.AuthStyleInParams}
		return config, nil, nil
	}
	provider, err := c.discover(ctx, p.Issuer)
	if err != nil {
		return nil, nil, failed(Away, fmt.Errorf("read the addresses of %s: %w", p.Issuer, err))
	}
	config.Endpoint = provider.Endpoint()
	return config, provider, nil
}

// discover returns a provider with its addresses, which are read once in discoveredFor.
func (c *Client) discover(ctx context.Context, issuer string) (*oidc.Provider, error) {
	c.mu.Lock()
	known, ok := c.found[issuer]
	c.mu.Unlock()
	if ok && c.now().Sub(known.at) < discoveredFor {
		return known.Provider, nil
	}
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return nil, err
	}
	if auth := provider.Endpoint().AuthURL; !isHTTPS(auth) { // people are sent there
		return nil, errors.New("its authorization_endpoint is no https URL")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found[issuer] = discovered{provider, c.now()}
	return provider, nil
}

// openIDUser checks the ID token and returns its person. What the token does not say is read from the userinfo endpoint.
func (c *Client) openIDUser(ctx context.Context, p Provider, provider *oidc.Provider, token *oauth2.Token, s Secrets) (Identity, error) {
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return Identity{}, failed(Untrusted, errors.New("there is no ID token"))
	}
	// The signature is checked with the provider's algorithms, which never include none.
	id, err := provider.Verifier(&oidc.Config{ClientID: p.ClientID, Now: func() time.Time { return c.now().Add(-clockSkew) }}).Verify(ctx, raw)
	if ctx.Err() != nil { // the keys did not come in time
		return Identity{}, failed(Away, err)
	}
	if err != nil {
		return Identity{}, failed(Untrusted, err)
	}
	claims := claimSet{}
	if err := id.Claims(&claims); err != nil {
		return Identity{}, failed(Untrusted, err)
	}
	if err := c.checkToken(p, id, claims, s, token.AccessToken); err != nil {
		return Identity{}, failed(Untrusted, err)
	}
	adult, err := claims.adult(p.Adult, c.now())
	noAge, name := err != nil && FailureOf(err) == NoAge, claims.name()
	if provider.UserInfoEndpoint() != "" && (noAge || err == nil && name == "") {
		more, failure := userInfo(ctx, provider, token, id.Subject)
		switch {
		case failure != nil && (noAge || FailureOf(failure) == Untrusted):
			return Identity{}, failure
		case failure == nil && noAge:
			claims = more
			adult, err = claims.adult(p.Adult, c.now())
		}
		name = more.name()
	}
	if err != nil {
		return Identity{}, err
	}
	return Identity{Issuer: id.Issuer, Subject: id.Subject, Name: name, Adult: adult, Assurance: claims.assurance()}, nil
}

// checkToken checks what the library does not: nonce, time of issue, authorized party and the hash of the access token.
func (c *Client) checkToken(p Provider, id *oidc.IDToken, claims claimSet, s Secrets, accessToken string) error {
	switch {
	case id.Nonce != s.Nonce || s.Nonce == "":
		return errors.New("the nonce is not that of the attempt")
	case id.Subject == "":
		return errors.New("there is no subject")
	case id.IssuedAt.After(c.now().Add(clockSkew)):
		return errors.New("it was issued in the future")
	case claims["azp"] != nil && claims.text("azp") != p.ClientID, claims["azp"] == nil && len(slices.Compact(slices.Clone(id.Audience))) > 1:
		return errors.New("it was issued to another client")
	case id.AccessTokenHash != "":
		return id.VerifyAccessToken(accessToken)
	}
	return nil
}

// userInfo returns the claims of the userinfo endpoint about a subject.
func userInfo(ctx context.Context, provider *oidc.Provider, token *oauth2.Token, subject string) (claims claimSet, err error) {
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, failed(Away, err)
	}
	if info.Subject != subject {
		return nil, failed(Untrusted, errors.New("the userinfo is about another subject"))
	}
	if err := info.Claims(&claims); err != nil {
		return nil, failed(Away, err)
	}
	return claims, nil
}

// digiLockerUser returns the person of a token of DigiLocker.
func (c *Client) digiLockerUser(ctx context.Context, p Provider, token *oauth2.Token) (Identity, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.UserURL, nil)
	if err != nil {
		return Identity{}, failed(Away, err)
	}
	token.SetAuthHeader(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return Identity{}, failed(Away, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return Identity{}, failed(Away, err)
	}
	claims, err := parseClaims(body)
	if account := (claimSet{}); json.Unmarshal(claims["details"], &account) == nil { // its OpenAPI description has this level, its manual not
		claims = account
	}
	if err != nil || resp.StatusCode != http.StatusOK || claims.text("digilockerid") == "" {
		return Identity{}, failed(Away, fmt.Errorf("the account of DigiLocker: status %d", resp.StatusCode))
	}
	born := claims.text("dob")
	if n := 0; json.Unmarshal(claims["dob"], &n) == nil {
		born = fmt.Sprintf("%08d", n) // the description has a number in one place
	}
	if day, err := time.Parse("02012006", born); err == nil { // as DigiLocker documents it
		born = day.Format(time.DateOnly)
	}
	adult, err := bornAdult(born, c.now())
	if err != nil {
		return Identity{}, err
	}
	id := Identity{Issuer: p.UserURL, Subject: claims.text("digilockerid"), Name: claims.text("name"), Adult: adult}
	if claims.text("eaadhaar") == "Y" || claims.text("eaadhar") == "Y" { // the description has both spellings
		id.Assurance = "eaadhaar"
	}
	return id, nil
}
