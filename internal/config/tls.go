package config

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
)

// TLSOn says whether the service speaks TLS itself.
func (c *Config) TLSOn() bool { return named(c.TLSCert) && named(c.TLSKey) }

// named says whether a setting that names a file does.
func named(file string) bool { return file != "" && file != off }

// checkTLSCert judges the certificate, and whether the key is its own.
func (c *Config) checkTLSCert() []string {
	if !named(c.TLSCert) && named(c.TLSKey) {
		return []string{"must name the certificate of TLS_KEY"}
	}
	if !c.TLSOn() {
		return nil
	}
	certificate, problem := content(c.TLSCert)
	if problem != "" {
		return []string{problem}
	}
	key, problem := content(c.TLSKey)
	if problem != "" {
		return nil // TLS_KEY says so
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return []string{"cannot be used with TLS_KEY: " + err.Error()}
	}
	return nil
}

func (c *Config) checkTLSKey() []string {
	if named(c.TLSCert) && !named(c.TLSKey) {
		return []string{"must name the key of TLS_CERT"}
	}
	if !c.TLSOn() {
		return nil
	}
	_, problem := content(c.TLSKey)
	return one(problem)
}

// content reads a file, or says why it cannot.
func content(path string) ([]byte, string) {
	text, err := os.ReadFile(path)
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		err = perr.Err // the path is in the line already
	}
	if err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	return text, ""
}
