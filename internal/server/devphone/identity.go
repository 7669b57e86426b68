package devphone

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/web"
)

// identityPath is the page of a provider of proofs that a person plays.
const identityPath = "/dev/identity"

// identityCodes are what the person can let the provider say.
var identityCodes = []string{"adult", "other_name", "minor", "no_age", "error", "cancelled"}

// IdentityProvider returns the provider that people play in development. Its address has no host, so that people stay on the one that they
// use: cookies of localhost do not count at 127.0.0.1.
func IdentityProvider() identity.Provider {
	return identity.Provider{Name: "test", Label: "Test ID", Method: identity.OIDC, AuthURL: identityPath, Play: playIdentity}
}

// playIdentity returns what the provider says about a person whom the coach called entered.
func playIdentity(code, entered string) (identity.Identity, error) {
	who := identity.Identity{Issuer: identityPath, Subject: entered, Name: entered, Adult: true, Assurance: "test"}
	switch code {
	case "adult":
	case "other_name":
		who.Subject, who.Name = "other", "Someone Else"
	case "minor":
		who.Adult = false
	case "no_age":
		return who, identity.NewError(identity.NoAge, nil)
	default:
		return who, identity.NewError(identity.Away, nil)
	}
	return who, nil
}

// identity serves GET /dev/identity: what a provider asks the person, as links back to the service.
func (p pages) identity(_ context.Context, r *web.Request) (web.Response, error) {
	type choice struct{ Code, Back string }
	var choices []choice
	for _, code := range identityCodes {
		query := url.Values{"state": {r.Value("state")}, "code": {code}}
		if code == "cancelled" {
			query = url.Values{"state": {r.Value("state")}, "error": {"access_denied"}}
		}
		choices = append(choices, choice{code, identity.CallbackPath + "?" + query.Encode()})
	}
	v := p.site.NewView(r, "dev_identity.title")
	v.HidePath, v.Path, v.Data = true, path, choices
	return web.Page("dev_identity", v), nil
}
