package config

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
)

// TLSOn reports whether both listeners use TLS.
func (c *Config) TLSOn() bool { return isPath(c.TLSCert) && isPath(c.TLSKey) }

func isPath(file string) bool { return file != "" && file != off }

// checkTLSCert checks the certificate, and whether it matches the key.
func (c *Config) checkTLSCert() []string {
	if !isPath(c.TLSCert) && isPath(c.TLSKey) {
		return []string{"must name the certificate of TLS_KEY"}
	}
	if !c.TLSOn() {
		return nil
	}
	certificate, message := readPEM(c.TLSCert)
	if message != "" {
		return []string{message}
	}
	key, message := readPEM(c.TLSKey)
	if message != "" {
		return nil // checkTLSKey reports it
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return []string{"cannot be used with TLS_KEY: " + err.Error()}
	}
	return nil
}

func (c *Config) checkTLSKey() []string {
	if isPath(c.TLSCert) && !isPath(c.TLSKey) {
		return []string{"must name the key of TLS_CERT"}
	}
	if !c.TLSOn() {
		return nil
	}
	_, message := readPEM(c.TLSKey)
	return optional(message)
}

// readPEM returns the content of a file, or an error message.
func readPEM(path string) ([]byte, string) {
	text, err := os.ReadFile(path)
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		err = perr.Err // the error names the path already
	}
	if err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	return text, ""
}
