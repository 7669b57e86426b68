package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
)

const (
	// certificateCheckInterval is how often a handshake checks whether the files changed.
	certificateCheckInterval = 30 * time.Second
	// renewalExpected is how long before its end a certificate should have been renewed, or a
	// tenth of its lifetime if that is shorter.
	renewalExpected = 7 * 24 * time.Hour
	// renewalWarnInterval is the least time between two warnings that it was not.
	renewalWarnInterval = time.Hour
)

// certificate holds the certificate of TLS_CERT and TLS_KEY. It reads the files again
// when they change, so that a renewal needs no restart.
type certificate struct {
	files [2]string // certificate, key
	now   func() time.Time
	log   *slog.Logger

	mu       sync.Mutex
	pair     *tls.Certificate
	versions [2]fileVersion // of the files of pair
	checked  time.Time
	warned   time.Time
}

// fileVersion identifies the content of a file without reading it.
type fileVersion struct {
	size     int64
	modified time.Time
}

// openCertificate reads the certificate of cfg. It returns nil if it does not come from files.
func openCertificate(cfg *config.Config, o Options) (*certificate, error) {
	if !cfg.TLSFiles() {
		return nil, nil
	}
	c := &certificate{files: [2]string{cfg.TLSCert, cfg.TLSKey}, now: o.Now, log: o.Log}
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("read the TLS certificate: %w", err)
	}
	c.warn(c.now())
	return c, nil
}

// get returns the certificate for a handshake. If the new files cannot be used, for
// example because only one of them is renewed yet, it returns the old certificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.checked).Abs() >= certificateCheckInterval { // the clock may be set back
		if err := c.read(); err != nil {
			c.log.Warn("read the new TLS certificate: it cannot be used, the old one stays in use", "error", err)
		}
		c.checked = now
		c.warn(now)
	}
	return c.pair, nil
}

// warn logs each hour that clients refuse the certificate, or soon will.
func (c *certificate) warn(now time.Time) {
	leaf := c.pair.Leaf
	text := ""
	switch {
	case now.Before(leaf.NotBefore):
		text = "the TLS certificate is not valid yet: clients refuse it"
	case now.After(leaf.NotAfter):
		text = "the TLS certificate has expired: clients refuse it"
	case leaf.NotAfter.Sub(now) < min(renewalExpected, leaf.NotAfter.Sub(leaf.NotBefore)/10):
		text = "the TLS certificate expires soon and was not renewed"
	}
	if text == "" || now.Sub(c.warned).Abs() < renewalWarnInterval {
		return
	}
	c.warned = now
	c.log.Warn(text, "not_before", leaf.NotBefore, "not_after", leaf.NotAfter)
}

// read reads the files if they changed since the last call.
func (c *certificate) read() error {
	var versions [2]fileVersion
	for i, file := range c.files {
		info, err := os.Stat(file)
		if err != nil {
			return withoutPath(err)
		}
		versions[i] = fileVersion{info.Size(), info.ModTime()}
	}
	if c.pair != nil && versions == c.versions {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return withoutPath(err)
	}
	c.pair, c.versions, c.warned = &pair, versions, time.Time{}
	return nil
}

// withoutPath removes the path from err: logs must not show where keys are stored.
func withoutPath(err error) error {
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		return perr.Err
	}
	return err
}

// certificateEnds returns when the certificates of the process end, by name. Both may be nil.
func certificateEnds(files *certificate, issued *acmeCertificates) map[string]time.Time {
	ends := map[string]time.Time{}
	if files != nil {
		files.mu.Lock()
		ends["TLS_CERT"] = files.pair.Leaf.NotAfter
		files.mu.Unlock()
	}
	if issued != nil {
		issued.mu.Lock()
		maps.Copy(ends, issued.ends)
		issued.mu.Unlock()
	}
	return ends
}

// tlsConfig returns the TLS settings of a server with this certificate.
func (c *certificate) tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}
