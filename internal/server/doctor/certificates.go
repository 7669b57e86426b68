package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
)

// certificates checks the files of TLS_CERT, and what clients see at PUBLIC_URL and at each domain of TLS_AUTOCERT_DOMAINS.
func (c *checkup) certificates(ctx context.Context) []Result {
	var results []Result
	if c.cfg.TLSFiles() {
		results = append(results, c.certificateFile())
	}
	var hosts []string
	for _, domain := range c.cfg.AutocertDomains() {
		hosts = append(hosts, net.JoinHostPort(domain, "443"))
	}
	if u, err := url.Parse(c.cfg.PublicURL); err == nil && u.Scheme == "https" {
		host := u.Host
		if u.Port() == "" {
			host = net.JoinHostPort(u.Hostname(), "443")
		}
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	for _, host := range hosts {
		results = append(results, c.servedCertificate(ctx, host))
	}
	switch {
	case len(results) > 0:
		return results
	case config.IsLoopback(c.cfg.Addr):
		return one(ok("No TLS is needed: the service answers only on this machine."))
	}
	return one(warning("There is no certificate to check: set PUBLIC_URL to the https address of the service, or TLS_CERT."))
}

func (c *checkup) certificateFile() Result {
	pair, err := tls.LoadX509KeyPair(c.cfg.TLSCert, c.cfg.TLSKey)
	if err != nil {
		return failed("TLS_CERT and TLS_KEY cannot be used together: replace them by a certificate and its key.")
	}
	return c.dates("TLS_CERT", pair.Leaf)
}

// servedCertificate connects to a host as a client does.
func (c *checkup) servedCertificate(ctx context.Context, host string) Result {
	dialer := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots, Time: c.now}}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if invalid, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return failed("Clients refuse the certificate of %s (%v): renew it, or add the certificates between it and its authority.", host, invalid.Err)
	}
	if err != nil {
		return warning("%s accepts no TLS connection from this machine, so its certificate was not checked: start the service or the proxy, or run this where clients are.", host)
	}
	defer conn.Close()
	leaf := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
	return c.dates(host, leaf)
}

// renewalExpected is how long before its end a certificate should have been renewed, or a tenth of its lifetime if that is shorter.
const renewalExpected = 7 * 24 * time.Hour

func (c *checkup) dates(what string, leaf *x509.Certificate) Result {
	now, end := c.now(), leaf.NotAfter
	switch {
	case now.Before(leaf.NotBefore):
		return failed("The certificate of %s is valid from %s: check the clock, or replace it.", what, day(leaf.NotBefore))
	case !now.Before(end):
		return failed("The certificate of %s ended on %s: renew it.", what, day(end))
	case end.Sub(now) < min(renewalExpected, end.Sub(leaf.NotBefore)/10):
		return warning("The certificate of %s ends on %s and was not renewed: check its renewal.", what, day(end))
	}
	return ok("The certificate of %s is valid until %s.", what, day(end))
}
