package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/config"
)

const (
	// claimDuration is how long one replica may take to get a certificate before another
	// tries. Package autocert also waits a minute after a failure.
	claimDuration = time.Minute
	// claimPoll and claimWait are how often and how long a replica looks for the certificate
	// that another one gets.
	claimPoll = 200 * time.Millisecond
	claimWait = 8 * time.Second
	// acmeTimeout limits one call of the ACME service.
	acmeTimeout = 30 * time.Second
	// warnInterval is the least time between two warnings of failed handshakes or connections.
	warnInterval = time.Minute
)

// acmeCertificates gets and renews the certificates of TLS_AUTOCERT_DOMAINS. The ACME service
// proves the control of a domain by a TLS handshake with it (TLS-ALPN-01, RFC 8737).
type acmeCertificates struct {
	manager *autocert.Manager
	domains []string
	log     *slog.Logger

	mu     sync.Mutex
	warned time.Time
	ends   map[string]time.Time // of the newest certificate of each domain
}

// newACMECertificates returns nil without TLS_AUTOCERT_DOMAINS.
func newACMECertificates(cfg *config.Config, o Options, entries auth.TLSEntries) (*acmeCertificates, error) {
	domains := cfg.AutocertDomains()
	if len(domains) == 0 {
		return nil, nil
	}
	authorities, err := cfg.AutocertAuthorities()
	if err != nil {
		return nil, fmt.Errorf("read the authorities of the ACME service: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: authorities}
	return &acmeCertificates{
		domains: domains, log: o.Log, ends: map[string]time.Time{},
		manager: &autocert.Manager{
			Prompt: autocert.AcceptTOS, HostPolicy: autocert.HostWhitelist(domains...), Cache: &certificateCache{entries: entries, now: o.Now},
			Client: &acme.Client{DirectoryURL: cfg.Endpoints.ACME, UserAgent: "touchline", HTTPClient: &http.Client{Transport: transport, Timeout: acmeTimeout}},
		},
	}, nil
}

// get returns the certificate for a handshake. A client that names another host, such as a
// health check by address, gets the certificate of the first domain.
func (c *acmeCertificates) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if name := strings.ToLower(strings.TrimSuffix(hello.ServerName, ".")); !slices.Contains(c.domains, name) {
		named := *hello
		named.ServerName = c.domains[0]
		hello = &named
	}
	certificate, err := c.manager.GetCertificate(hello)
	for end := time.Now().Add(claimWait); errors.Is(err, errOtherReplica) && time.Now().Before(end); {
		time.Sleep(claimPoll) // here and not in certificateCache.Get, during which autocert holds a lock
		certificate, err = c.manager.GetCertificate(hello)
	}
	switch {
	case err != nil:
		c.warn(hello.ServerName, err)
	case certificate.Leaf != nil && !slices.Contains(hello.SupportedProtos, acme.ALPNProto): // not the proof of a domain
		c.mu.Lock()
		c.ends[strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))] = certificate.Leaf.NotAfter
		c.mu.Unlock()
	}
	return certificate, err
}

func (c *acmeCertificates) warn(domain string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.warned) >= warnInterval {
		c.warned = now
		c.log.Warn("get a TLS certificate: handshakes fail until it succeeds", "domain", domain, "error", err)
	}
}

// prepare gets the certificates before the first client asks for them.
func (c *acmeCertificates) prepare() {
	for _, domain := range c.domains {
		_, _ = c.get(&tls.ClientHelloInfo{
			ServerName: domain, SupportedVersions: []uint16{tls.VersionTLS13}, SupportedCurves: []tls.CurveID{tls.CurveP256},
			CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
			SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		})
	}
}

// tlsConfig returns the TLS settings of a server with these certificates.
func (c *acmeCertificates) tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"h2", "http/1.1", acme.ALPNProto}}
}

// certificateCache is an autocert.Cache that all replicas share. One replica at a time gets a
// certificate: two that prove the same domain would take each other's challenge.
type certificateCache struct {
	entries auth.TLSEntries
	now     func() time.Time
}

// errOtherReplica means that another replica, or another handshake, gets the certificate.
var errOtherReplica = errors.New("another replica gets the certificate")

// Get returns an entry, or autocert.ErrCacheMiss if this replica shall get it.
func (c *certificateCache) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := c.entries.Entry(ctx, name)
	if err != nil || data != nil {
		return data, err
	}
	if !isCertificate(name) {
		return nil, autocert.ErrCacheMiss
	}
	claimed, err := c.entries.Claim(ctx, name, c.now().Add(claimDuration))
	switch {
	case err != nil:
		return nil, err
	case !claimed:
		return nil, errOtherReplica
	}
	return nil, autocert.ErrCacheMiss
}

// isCertificate reports whether an entry is a certificate, and not the answer to a challenge or
// the key of an account. Two replicas may have an account each.
func isCertificate(name string) bool {
	return !strings.HasSuffix(name, "+token") && !strings.HasSuffix(name, "+http-01") && !strings.HasPrefix(name, "acme_account")
}

// Put saves an entry.
func (c *certificateCache) Put(ctx context.Context, name string, data []byte) error {
	return c.entries.Save(ctx, name, data)
}

// Delete deletes an entry.
func (c *certificateCache) Delete(ctx context.Context, name string) error {
	return c.entries.Delete(ctx, name)
}
