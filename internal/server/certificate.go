package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/config"
)

// certificateLook is how often the files of a certificate are looked at.
const certificateLook = 30 * time.Second

// certificate is that of TLS_CERT and TLS_KEY. It is read again where the files have
// changed, so that a renewed one needs no restart.
type certificate struct {
	files [2]string // certificate, key
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	stamp  [2]stamp // of the files when pair was read
	looked time.Time
}

// stamp tells a file from what was put in its place.
type stamp struct {
	size int64
	at   time.Time
}

// openCertificate reads the certificate of cfg; nil where it has none.
func openCertificate(cfg *config.Config, edges Edges) (*certificate, error) {
	if !cfg.TLSOn() {
		return nil, nil
	}
	c := &certificate{files: [2]string{cfg.TLSCert, cfg.TLSKey}, now: edges.Now, log: edges.Log}
	if err := c.read(); err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return c, nil
}

// get answers one handshake. Where the new files cannot be used, such as while only
// one of them is there, the certificate stays what it was.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked) >= certificateLook {
		if err := c.read(); err != nil {
			c.log.Warn("the certificate of TLS_CERT has changed and cannot be used; the one before stays", "error", err)
		}
		c.looked = now
	}
	return c.pair, nil
}

// read reads the files unless they are those that it has read.
func (c *certificate) read() error {
	var found [2]stamp
	for i, file := range c.files {
		info, err := os.Stat(file)
		if err != nil {
			return withoutPath(err)
		}
		found[i] = stamp{info.Size(), info.ModTime()}
	}
	if c.pair != nil && found == c.stamp {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return withoutPath(err)
	}
	c.pair, c.stamp = &pair, found
	return nil
}

// withoutPath leaves out where an operator keeps keys.
func withoutPath(err error) error {
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		return perr.Err
	}
	return err
}

// secure puts TLS in front of the gate. HTTP/2 is not spoken: a stop waits for
// connections, and knows those of HTTP/1.1.
func (d *door) secure(c *certificate) {
	d.listener = tls.NewListener(d.gate, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get,
	})
}
