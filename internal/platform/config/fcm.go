package config

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/url"
)

// ServiceAccount is the part of a service account of Google that is used to send messages.
type ServiceAccount struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	ClientEmail  string `json:"client_email"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	TokenURI     string `json:"token_uri"`
}

// ServiceAccount returns the service account of FCM_SERVICE_ACCOUNT, or false if it is not set.
func (c *Config) ServiceAccount() (a ServiceAccount, ok bool) {
	if c.FCMServiceAccount == "" {
		return a, false
	}
	a, err := parseServiceAccount(c.FCMServiceAccount)
	return a, err == nil
}

// parseServiceAccount reads the JSON that Google gives out. Its errors contain no secret.
func parseServiceAccount(s Secret) (a ServiceAccount, err error) {
	if json.Unmarshal([]byte(s.Reveal()), &a) != nil {
		return a, errors.New("must be the JSON of a service account")
	}
	if a.Type != "service_account" || a.ProjectID == "" || a.ClientEmail == "" || a.PrivateKey == "" {
		return a, errors.New(`must be the JSON of a service account, with type "service_account", project_id, client_email and private_key`)
	}
	if u, err := url.Parse(a.TokenURI); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return a, errors.New("has no token_uri with http or https")
	}
	block, _ := pem.Decode([]byte(a.PrivateKey))
	if block == nil {
		return a, errors.New("has a private_key that is not PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if _, isRSA := key.(*rsa.PrivateKey); err != nil || !isRSA {
		return a, errors.New("has a private_key that is no RSA key in PKCS #8")
	}
	return a, nil
}

func (c *Config) checkServiceAccount() []string {
	if c.FCMServiceAccount == "" {
		return nil
	}
	if _, err := parseServiceAccount(c.FCMServiceAccount); err != nil {
		return []string{err.Error()}
	}
	return nil
}
