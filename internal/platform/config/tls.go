package config

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
)

// TLSOn reports whether both listeners use TLS.
func (c *Config) TLSOn() bool { return c.TLSFiles() || len(c.AutocertDomains()) > 0 }

// TLSFiles reports whether the certificate and its key come from files.
func (c *Config) TLSFiles() bool { return isNamed(c.TLSCert) && isNamed(c.TLSKey) }

// AutocertDomains returns the domain names of TLS_AUTOCERT_DOMAINS.
func (c *Config) AutocertDomains() []string {
	if !isNamed(c.TLSAutocertDomains) {
		return nil
	}
	return parseList(c.TLSAutocertDomains)
}

// isNamed reports whether the value of a setting that is off by default names a file or domains.
func isNamed(value string) bool { return value != "" && value != off }

// checkTLSCert checks the certificate, and whether it matches the key.
func (c *Config) checkTLSCert() []string {
	if !isNamed(c.TLSCert) && isNamed(c.TLSKey) {
		return []string{"must name the certificate of TLS_KEY"}
	}
	if !isNamed(c.TLSCert) {
		return nil
	}
	certificate, message := readPEM(c.TLSCert)
	if message != "" {
		return []string{message}
	}
	if !isNamed(c.TLSKey) {
		return nil // checkTLSKey reports it
	}
	key, message := readPrivatePEM(c.TLSKey)
	if message != "" {
		return nil // checkTLSKey reports it
	}
	if bytes.Contains(key, []byte("ENCRYPTED")) { // PKCS #8 and, in a header, the older form
		return []string{"cannot be used with TLS_KEY: the key has a password; write it without one: openssl pkey -in <key> -out <file>"}
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return []string{"cannot be used with TLS_KEY: " + err.Error()}
	}
	return nil
}

func (c *Config) checkTLSKey() []string {
	if isNamed(c.TLSCert) && !isNamed(c.TLSKey) {
		return []string{"must name the key of TLS_CERT"}
	}
	if !isNamed(c.TLSKey) {
		return nil
	}
	_, message := readPrivatePEM(c.TLSKey)
	return optional(message)
}

// readPEM returns the content of a public file, or an error message.
func readPEM(path string) ([]byte, string) {
	text, err := os.ReadFile(path)
	return text, fileError(err)
}

// readPrivatePEM is readPEM for a file with a private key, which not every user may read.
func readPrivatePEM(path string) ([]byte, string) {
	text, err := readSecretFile(path)
	return text, fileError(err)
}

// fileError returns the message of an error of a file that a setting names, or "".
func fileError(err error) string {
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		return "cannot be read: " + perr.Err.Error() // the setting shows the path already
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// AutocertAuthorities returns the authorities from which the certificate of the ACME service may
// come; nil means the authorities of the system.
func (c *Config) AutocertAuthorities() (*x509.CertPool, error) {
	if c.Endpoints.ACMEAuthorities == "" {
		return nil, nil
	}
	pem, message := readPEM(c.Endpoints.ACMEAuthorities)
	if message != "" {
		return nil, errors.New(message)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return pool, nil
}

// checkAutocert checks the domain names for certificates from ACME.
func (c *Config) checkAutocert() []string {
	var messages []string
	if isNamed(c.TLSAutocertDomains) && len(c.AutocertDomains()) == 0 {
		messages = append(messages, "names no domain; off switches it off")
	}
	for _, domain := range c.AutocertDomains() {
		if message := checkDomain(domain); message != "" {
			messages = append(messages, message)
		}
	}
	if len(c.AutocertDomains()) > 0 && (isNamed(c.TLSCert) || isNamed(c.TLSKey)) {
		messages = append(messages, "contradicts TLS_CERT and TLS_KEY; set either the files or the domains")
	}
	return messages
}

// domainLabel is a part of a domain name between dots.
var domainLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func checkDomain(domain string) string {
	if strings.HasPrefix(domain, "*.") {
		return fmt.Sprintf("%q is a wildcard, which ACME proves by DNS only; name each domain, or use TLS_CERT", domain)
	}
	labels := strings.Split(domain, ".")
	if ip := net.ParseIP(domain); ip != nil || len(labels) < 2 || len(domain) > 253 || slices.ContainsFunc(labels, func(l string) bool { return !domainLabel.MatchString(l) }) {
		return fmt.Sprintf("%q is not a domain name in lower case, such as touchline.example; write letters outside ASCII in Punycode", domain)
	}
	return ""
}
