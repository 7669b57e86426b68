package e2e_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// The domains of the test.
const domain, otherDomain = "touchline.test", "www.touchline.test"

// acmeServer is Let's Encrypt's test server. Every domain has the address 127.0.0.1.
type acmeServer struct {
	// directory is the URL of the server, authorities the file with its certificate.
	directory, authorities string

	ready     chan struct{} // closed by start; requests wait for it
	handler   http.Handler
	authority *ca.CAImpl
}

func newACMEServer(t *testing.T) *acmeServer {
	a := &acmeServer{ready: make(chan struct{})}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-a.ready:
			if id, is := strings.CutPrefix(r.URL.Path, "/finalize-order/"); is {
				// As Let's Encrypt does (RFC 8555, section 7.4).
				w.Header().Set("Location", "https://"+r.Host+"/my-order/"+id)
			}
			a.handler.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	a.directory, a.authorities = s.URL+wfe.DirectoryPath, filepath.Join(t.TempDir(), "authorities.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	if err := os.WriteFile(a.authorities, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// start proves the control of domains by handshakes with the address of serviceURL.
func (a *acmeServer) start(t *testing.T, serviceURL string) {
	t.Helper()
	u, err := url.Parse(serviceURL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0", "PEBBLE_AUTHZREUSE": "0"} {
		_ = os.Setenv(name, value) // the server has no other way to set them
	}
	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	a.authority = ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "default"}})
	validator := va.New(quiet, 0, port, true, resolver(t), store)
	front := wfe.New(quiet, store, validator, a.authority, []string{"pebble.test"}, true, false, 0, 0)
	a.handler = front.Handler()
	close(a.ready)
}

// resolver starts a DNS server that returns 127.0.0.1 for every name.
func resolver(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			m.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1)}}
		}
		_ = w.WriteMsg(m)
	})}
	go func() { _ = s.ActivateAndServe() }()
	t.Cleanup(func() { _ = s.Shutdown() })
	return l.Addr().String()
}

// certificateFor returns the certificate that a client which asks for a name gets, verified
// against the authority unless the client cannot verify it.
func (a *acmeServer) certificateFor(t *testing.T, s *touchlinetest.Service, name string) *x509.Certificate {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(a.authority.GetRootCert(0).Cert)
	client := &http.Client{Timeout: waitLimit, Transport: &http.Transport{
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{ServerName: name, RootCAs: roots, InsecureSkipVerify: name != domain && name != otherDomain},
	}}
	resp, err := client.Get(strings.Replace(s.URL, "http:", "https:", 1) + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || resp.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%s: got %d over %s %v, want 200 over HTTP/2 with HSTS", name, resp.StatusCode, resp.Proto, resp.Header)
	}
	return resp.TLS.PeerCertificates[0]
}

// consoleCookie signs an operator in to the console over TLS and returns the cookie.
func consoleCookie(t *testing.T, s *touchlinetest.Service) *http.Cookie {
	t.Helper()
	client := &http.Client{Timeout: waitLimit, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the address has no certificate
	}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.PostForm(strings.Replace(s.AdminURL, "http:", "https:", 1)+"/sign-in", url.Values{"token": {s.Operator(t, operator.KYC).Token}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if len(resp.Cookies()) != 1 {
		t.Fatalf("sign-in to the console: got status %d and the cookies %v, want one cookie", resp.StatusCode, resp.Cookies())
	}
	return resp.Cookies()[0]
}

// TestAutocert: two replicas with an empty database get one certificate for each domain from
// an ACME server that can only reach the second one. A third replica needs no ACME server. The
// database has neither keys nor certificates in plain text.
func TestAutocert(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, databaseURL string) {
		a := newACMEServer(t)
		s := touchlinetest.New(t, databaseURL, func(c *config.Config) {
			c.TLSAutocertDomains, c.Endpoints.ACME, c.Endpoints.ACMEAuthorities = domain+","+otherDomain, a.directory, a.authorities
		})
		replica := s.Replica()
		a.start(t, replica.URL)
		for _, name := range []string{domain, otherDomain} {
			first, second := a.certificateFor(t, replica, name), a.certificateFor(t, s, name)
			if first.SerialNumber.Cmp(second.SerialNumber) != 0 || first.VerifyHostname(name) != nil {
				t.Errorf("%s: the replicas have the certificates %s and %s", name, first.SerialNumber, second.SerialNumber)
			}
		}
		third := s.Replica(func(c *config.Config) { c.Endpoints.ACME = "http://127.0.0.1:1/" })
		if got, want := a.certificateFor(t, third, "another.test"), a.certificateFor(t, s, domain); got.SerialNumber.Cmp(want.SerialNumber) != 0 {
			t.Errorf("another name gets the certificate %s, want %s of the first domain", got.SerialNumber, want.SerialNumber)
		}
		if cookie := consoleCookie(t, s); !cookie.Secure {
			t.Errorf("the console sets the cookie %s, want a Secure one", cookie.Name)
		}
		tables := openTables(t, s)
		eventually(t, "the entries are the account and two certificates", func() bool {
			return queryOne[int](t, tables, `SELECT count(*) FROM tls_entries`) == 3
		})
		for _, name := range []string{"acme_account+key", domain, otherDomain} {
			if sealed := queryOne[[]byte](t, tables, `SELECT sealed FROM tls_entries WHERE name = $1`, name); bytes.Contains(sealed, []byte("BEGIN")) || len(sealed) < 100 {
				t.Errorf("%s is not sealed", name)
			}
		}
	})
}
