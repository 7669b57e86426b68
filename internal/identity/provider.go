// Package identity proves that a guardian is an adult: by an OpenID Connect provider, by DigiLocker, or by papers that an
// operator has seen. It keeps who proved it, how and when, and no birth date, document or name.
//
// What a proof means for consent is in package approval.
package identity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Method is how a person proved to be an adult.
type Method string

// The methods.
const (
	OIDC       Method = "oidc"
	DigiLocker Method = "digilocker"
	// ByOperator: an operator saw papers in person.
	ByOperator Method = "operator"
)

// Provider is one entry of IDENTITY_PROVIDERS.
type Provider struct {
	// Name is in addresses and records, Label on buttons.
	Name, Label string
	Method      Method
	// Issuer is the address of an OpenID provider.
	Issuer                 string
	ClientID, ClientSecret string
	Scopes                 []string
	// Adult is the claim that says that the person is an adult: birthdate, verified_claims, or the name of a boolean.
	Adult string
	// AuthURL, TokenURL and UserURL are the endpoints of DigiLocker.
	AuthURL, TokenURL, UserURL string
	// Play answers in place of a provider, in development: it returns what the provider says for a code to a person of
	// whom the coach entered a name.
	Play func(code, entered string) (Identity, error)
}

// The values of Provider.Adult that are not the name of a boolean claim.
const (
	birthDate      = "birthdate"
	verifiedClaims = "verified_claims"
)

// digiLocker has the addresses of DigiLocker, OAuth 2 with PKCE.
var digiLocker = Provider{
	Method: DigiLocker, Label: "DigiLocker", Adult: birthDate,
	AuthURL:  "https://api.digitallocker.gov.in/public/oauth2/1/authorize",
	TokenURL: "https://api.digitallocker.gov.in/public/oauth2/1/token",
	UserURL:  "https://api.digitallocker.gov.in/public/oauth2/1/user",
}

// maxProviders limits the buttons on a page, maxLabel the characters on a button.
const (
	maxProviders = 8
	maxLabel     = 30
)

// providerFile is the file IDENTITY_PROVIDERS.
type providerFile struct {
	Providers []struct {
		Name             string   `json:"name"`
		Label            string   `json:"label"`
		Preset           string   `json:"preset"`
		Issuer           string   `json:"issuer"`
		ClientID         string   `json:"client_id"`
		ClientSecretFile string   `json:"client_secret_file"`
		Scopes           []string `json:"scopes"`
		AdultClaim       string   `json:"adult_claim"`
		AuthURL          string   `json:"authorization_endpoint"`
		TokenURL         string   `json:"token_endpoint"`
		UserURL          string   `json:"user_endpoint"`
	} `json:"providers"`
}

// ParseProviders reads a file of providers. readSecret reads a file with a client secret. The messages name each error.
func ParseProviders(text []byte, readSecret func(path string) (string, error)) (list []Provider, messages []string) {
	var file providerFile
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&file)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else {
			err = errors.New("there is more data after its end")
		}
	}
	if err != nil {
		return nil, []string{"is not the JSON of providers: " + err.Error()}
	}
	if n := len(file.Providers); n == 0 || n > maxProviders {
		messages = append(messages, fmt.Sprintf("has %d providers, want 1 to %d", n, maxProviders))
	}
	for i, e := range file.Providers {
		add := func(format string, args ...any) {
			messages = append(messages, fmt.Sprintf("/providers/%d", i)+fmt.Sprintf(format, args...))
		}
		p := Provider{Method: OIDC, Adult: birthDate, Scopes: []string{"openid", "profile"}}
		switch e.Preset {
		case "":
			if !isHTTPS(e.Issuer) {
				add("/issuer must be an https URL")
			}
			if e.AuthURL != "" || e.TokenURL != "" || e.UserURL != "" {
				add(" has endpoints, which the issuer publishes itself")
			}
		case string(DigiLocker):
			p = digiLocker
			if e.Issuer != "" || e.AdultClaim != "" {
				add(" has the preset %s and takes no issuer and no adult_claim", e.Preset)
			}
		default:
			add("/preset must be digilocker")
		}
		p.Name, p.Issuer, p.ClientID = e.Name, e.Issuer, e.ClientID
		if !isProviderName(e.Name) {
			add("/name must have 1 to 30 characters a to z, 0 to 9 and -")
		}
		if slices.ContainsFunc(list, func(o Provider) bool { return o.Name == e.Name }) {
			add("/name is repeated")
		}
		if e.Label != "" {
			p.Label = e.Label
		}
		if n := utf8.RuneCountInString(p.Label); n == 0 || n > maxLabel {
			add("/label must have 1 to %d characters", maxLabel)
		}
		if e.ClientID == "" {
			add("/client_id is required")
		}
		for _, endpoint := range []struct {
			name, value string
			to          *string
		}{{"authorization_endpoint", e.AuthURL, &p.AuthURL}, {"token_endpoint", e.TokenURL, &p.TokenURL}, {"user_endpoint", e.UserURL, &p.UserURL}} {
			if endpoint.value == "" {
				continue
			}
			if *endpoint.to = endpoint.value; !isHTTPS(endpoint.value) {
				add("/%s must be an https URL", endpoint.name)
			}
		}
		if e.Scopes != nil {
			p.Scopes = e.Scopes
		}
		if p.Method == OIDC && !slices.Contains(p.Scopes, "openid") {
			add("/scopes must have openid")
		}
		if e.AdultClaim != "" {
			p.Adult = e.AdultClaim
		}
		if e.ClientSecretFile != "" {
			secret, err := readSecret(e.ClientSecretFile)
			if err != nil {
				add("/client_secret_file cannot be read: %s", err)
			}
			if p.ClientSecret = strings.TrimSpace(secret); err == nil && p.ClientSecret == "" {
				add("/client_secret_file is empty")
			}
		}
		list = append(list, p)
	}
	return list, messages
}

// isHTTPS reports whether text is an https URL, or http on this machine, for tests.
func isHTTPS(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Fragment != "" || u.User != nil {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" && (host == "127.0.0.1" || host == "::1" || host == "localhost")
}

func isProviderName(name string) bool {
	return name != "" && len(name) <= 30 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
