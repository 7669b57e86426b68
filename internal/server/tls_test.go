package server_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// writeCertificate writes a new certificate for 127.0.0.1 and its key.
func writeCertificate(t *testing.T, serial int64, certFile, keyFile string) {
	t.Helper()
	writeCertificateUntil(t, serial, certFile, keyFile, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
}

func writeCertificateUntil(t *testing.T, serial int64, certFile, keyFile string, notBefore, notAfter time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: notBefore, NotAfter: notAfter,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	writeFile(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

func writeFile(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// newTLSClient returns a client that accepts any certificate and opens a connection for
// each request.
func newTLSClient() *http.Client {
	return &http.Client{Timeout: testTimeout, Transport: &http.Transport{
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the tests compare the serial number
	}}
}

// certificateSerial returns the serial number of the certificate in use.
func certificateSerial(t *testing.T, s *touchlinetest.Service) int64 {
	t.Helper()
	resp, err := newTLSClient().Get(strings.Replace(s.URL, "http:", "https:", 1) + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.TLS.Version < tls.VersionTLS12 || resp.ProtoMajor != 2 {
		t.Errorf("got %d, %s over %s; want 200, HTTP/2 over TLS 1.2 or later", resp.StatusCode, resp.Proto, tls.VersionName(resp.TLS.Version))
	}
	return resp.TLS.PeerCertificates[0].SerialNumber.Int64()
}

// TestTLSCertificateRenewal: the service reads a renewed certificate without restart,
// and keeps the old one if the new files are invalid. It refuses plain HTTP.
func TestTLSCertificateRenewal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, 1, certFile, keyFile)
	s := touchlinetest.New(t, "sqlite:"+filepath.Join(dir, "db"), func(c *config.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	if n := certificateSerial(t, s); n != 1 {
		t.Fatalf("got certificate %d, want 1", n)
	}
	if resp, err := newTLSClient().Get(s.URL + "/readyz"); err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP: got %v, %v; want 400", resp, err)
	}

	writeCertificate(t, 2, certFile, keyFile)
	s.Clock.Advance(time.Minute)
	if n := certificateSerial(t, s); n != 2 {
		t.Errorf("after the renewal: got certificate %d, want 2", n)
	}
	writeFile(t, keyFile, []byte("half of a key"))
	s.Clock.Advance(time.Minute)
	if n := certificateSerial(t, s); n != 2 || !strings.Contains(s.Log.String(), "cannot be used") {
		t.Errorf("with an invalid key: got certificate %d, want 2 and a log line", n)
	}
	writeCertificate(t, 3, certFile, keyFile)
	s.Clock.Advance(time.Minute)
	if n := certificateSerial(t, s); n != 3 {
		t.Errorf("after the second renewal: got certificate %d, want 3", n)
	}
	s.Clock.Advance(-time.Hour) // the operator corrects the clock
	writeCertificate(t, 4, certFile, keyFile)
	if n := certificateSerial(t, s); n != 4 {
		t.Errorf("with the clock set back: got certificate %d, want 4", n)
	}
	if strings.Contains(s.Log.String(), dir) {
		t.Error("the log shows the path of the key")
	}
}

// TestTLSCertificateExpiry: the log warns of a certificate that was not renewed, or that
// clients refuse, until it is renewed.
func TestTLSCertificateExpiry(t *testing.T) {
	t.Parallel()
	dir, day := t.TempDir(), 24*time.Hour
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	start := time.Now() // the time of the test clock
	writeCertificateUntil(t, 1, certFile, keyFile, start.Add(-60*day), start.Add(30*day))
	s := touchlinetest.New(t, "sqlite:"+filepath.Join(dir, "db"), func(c *config.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	seen := 0
	want := func(text string) {
		t.Helper()
		certificateSerial(t, s)
		certificateSerial(t, s) // the second handshake warns no more
		log := s.Log.String()
		warnings := strings.Count(log[seen:], "the TLS certificate ")
		if text == "" && warnings > 0 || text != "" && (warnings != 1 || !strings.Contains(log[seen:], text)) {
			t.Errorf("got %d warnings, want %q in\n%s", warnings, text, log[seen:])
		}
		seen = len(log)
	}
	want("")
	s.Clock.Advance(24 * day)
	want("expires soon")
	s.Clock.Advance(30 * time.Minute)
	want("")
	s.Clock.Advance(7 * day)
	want("has expired")
	writeCertificateUntil(t, 2, certFile, keyFile, start.Add(40*day), start.Add(90*day))
	s.Clock.Advance(time.Minute)
	want("is not valid yet")
	s.Clock.Advance(20 * day)
	want("")
}

// TestTLSOfBothListeners: the operators' listener speaks TLS too, and both send HSTS.
func TestTLSOfBothListeners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, 1, certFile, keyFile)
	s := touchlinetest.New(t, "sqlite:"+filepath.Join(dir, "db"), func(c *config.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	for _, url := range []string{s.URL, s.AdminURL} {
		resp, err := newTLSClient().Get(strings.Replace(url, "http:", "https:", 1) + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Strict-Transport-Security"); resp.StatusCode != http.StatusOK || got != "max-age=31536000" {
			t.Errorf("%s: got %d with Strict-Transport-Security %q", url, resp.StatusCode, got)
		}
	}
}

// TestStrictTransportSecurityBehindProxy: behind an https PUBLIC_URL the API sends HSTS;
// without TLS no response has it.
func TestStrictTransportSecurityBehindProxy(t *testing.T) {
	t.Parallel()
	for publicURL, want := range map[string]string{"https://touchline.example": "max-age=31536000", "http://touchline.example": ""} {
		s := touchlinetest.New(t, "sqlite:"+filepath.Join(t.TempDir(), "db"), func(c *config.Config) { c.PublicURL = publicURL })
		if got := s.Call(t, "GET", "/healthz", "", nil).Want(t, 200).Header.Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s: got %q, want %q", publicURL, got, want)
		}
		if got := s.AdminCall(t, "GET", "/healthz", "", nil).Want(t, 200).Header.Get("Strict-Transport-Security"); got != "" {
			t.Errorf("%s, operators' listener without TLS: got %q", publicURL, got)
		}
	}
}

// TestShutdownWaitsForTLSRequest: Shutdown waits for a request over TLS whose body is
// still on its way.
func TestShutdownWaitsForTLSRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, 1, certFile, keyFile)
	s := touchlinetest.New(t, "sqlite:"+filepath.Join(dir, "db"), func(c *config.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "http://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = `{"mobile_number": "98123 45678"}`
	fmt.Fprintf(conn, "POST /auth/request-otp HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	responses := bufio.NewReader(conn)
	waitForContinue(t, responses)
	_, _ = io.WriteString(conn, body[:5])
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop() }()
	select {
	case err := <-stopped:
		t.Fatalf("Stop returned during a request: %v", err)
	case <-time.After(300 * time.Millisecond): // in which Stop must not return
	}
	_, _ = io.WriteString(conn, body[5:])
	resp, err := http.ReadResponse(responses, nil)
	if err != nil || resp.StatusCode != http.StatusAccepted {
		t.Errorf("got %v, %v; want 202", resp, err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Stop: %v", err)
	}
}

// waitForContinue reads status 100, which the server sends when a handler reads the body.
func waitForContinue(t *testing.T, responses *bufio.Reader) {
	t.Helper()
	resp, err := http.ReadResponse(responses, nil)
	if err != nil || resp.StatusCode != http.StatusContinue {
		t.Fatalf("got %v, %v; want 100", resp, err)
	}
}

// TestShutdownWaitsForHTTP2Request: Shutdown waits for an HTTP/2 request whose body is
// still on its way.
func TestShutdownWaitsForHTTP2Request(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, 1, certFile, keyFile)
	s := touchlinetest.New(t, "sqlite:"+filepath.Join(dir, "db"), func(c *config.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	body, send := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, strings.Replace(s.URL, "http:", "https:", 1)+"/auth/request-otp", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	// The client sends the body when the handler reads it.
	req.Header.Set("Expect", "100-continue")
	client := newTLSClient()
	client.Transport.(*http.Transport).ExpectContinueTimeout = time.Minute
	stopped := make(chan error, 1)
	go func() {
		_, _ = io.WriteString(send, `{"mobile_number": `)
		go func() { stopped <- s.Stop() }()
		time.Sleep(300 * time.Millisecond) // Stop has begun by then, mostly; the test holds for both orders
		_, _ = io.WriteString(send, `"98123 45678"}`)
		_ = send.Close()
	}()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted || resp.ProtoMajor != 2 {
		t.Errorf("got %d over %s; want 202 over HTTP/2", resp.StatusCode, resp.Proto)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Stop: %v", err)
	}
}
