package server

import (
	"errors"
	"net/netip"
	"os"

	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/server/devphone"
)

// IdentityProviders returns the providers of IDENTITY_PROVIDERS. The error is config.Errors with every error in the file.
func IdentityProviders(cfg *config.Config) ([]identity.Provider, error) {
	path := cfg.ProvidersFile()
	if path == "" {
		return nil, nil
	}
	var list []identity.Provider
	var messages []string
	text, err := readTiers(path)
	if err != nil {
		messages = append(messages, "cannot be read: "+err.Error())
	} else {
		list, messages = identity.ParseProviders(text, func(path string) (string, error) {
			secret, err := os.ReadFile(path)
			return string(secret), err
		})
	}
	var errs config.Errors
	for _, message := range messages {
		errs = append(errs, config.Error{Name: "TOUCHLINE_IDENTITY_PROVIDERS", Value: path, Message: message})
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return list, nil
}

// CheckProviders returns the errors in the file of IDENTITY_PROVIDERS. It is a config.Check.
func CheckProviders(cfg *config.Config) config.Errors {
	_, err := IdentityProviders(cfg)
	errs, _ := errors.AsType[config.Errors](err)
	return errs
}

// newIdentity returns the service of proofs. In development it has a provider that people play at /dev/identity.
func newIdentity(cfg *config.Config, o Options, b base) (*identity.Service, error) {
	providers, err := IdentityProviders(cfg)
	if err != nil {
		return nil, err
	}
	networks := webhook.Networks(cfg.WebhookNetworks)
	if b.phones != nil {
		networks = append(networks, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
		providers = append(providers, devphone.IdentityProvider())
	}
	return &identity.Service{
		DB: b.db, Approvals: b.approvals, Providers: providers, Client: identity.NewClient(networks, o.Now, cfg.PublicURL+identity.CallbackPath),
		Secrets: b.keys.Vault.For(vault.ForIdentity), AppURL: cfg.App(), PublicURL: cfg.PublicURL, Rand: o.Rand, Log: o.Log,
	}, nil
}
