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

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// certify puts a new certificate for 127.0.0.1 and its key at the two places.
func certify(t *testing.T, serial int64, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// stranger is a client that keeps no connection and believes every certificate.
func stranger() *http.Client {
	return &http.Client{Timeout: testTimeout, Transport: &http.Transport{
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // its serial is what the tests look at
	}}
}

// shown is the serial of the certificate that the service shows.
func shown(t *testing.T, s *touchlinetest.Service) int64 {
	t.Helper()
	resp, err := stranger().Get(strings.Replace(s.URL, "http:", "https:", 1) + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.TLS.Version < tls.VersionTLS12 || resp.ProtoMajor != 2 {
		t.Errorf("got %d, %s over %s; want 200, HTTP/2 over TLS 1.2 or later", resp.StatusCode, resp.Proto, tls.VersionName(resp.TLS.Version))
	}
	return resp.TLS.PeerCertificates[0].SerialNumber.Int64()
}

// TestTLS: with TLS_CERT and TLS_KEY the service speaks TLS and nothing else, reads
// a renewed certificate by itself, and keeps the one it has where the new files
// cannot be used.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certify(t, 1, certFile, keyFile)
	s := touchlinetest.New(t, "sqlite:"+filepath.Join(dir, "db"), func(c *config.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	if n := shown(t, s); n != 1 {
		t.Fatalf("certificate %d", n)
	}
	if resp, err := stranger().Get(s.URL + "/readyz"); err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: %v, %v", resp, err)
	}

	certify(t, 2, certFile, keyFile)
	s.Clock.Advance(time.Minute)
	if n := shown(t, s); n != 2 {
		t.Errorf("certificate %d after it was renewed", n)
	}
	write(t, keyFile, []byte("half of a key"))
	s.Clock.Advance(time.Minute)
	if n := shown(t, s); n != 2 || !strings.Contains(s.Log.String(), "cannot be used") {
		t.Errorf("certificate %d beside a broken key; the log says nothing", n)
	}
	certify(t, 3, certFile, keyFile)
	s.Clock.Advance(time.Minute)
	if n := shown(t, s); n != 3 {
		t.Errorf("certificate %d after the key was mended", n)
	}
	if strings.Contains(s.Log.String(), dir) {
		t.Error("the log says where the key is kept")
	}
}

// TestTLSStops: a stop over TLS waits for the request that is under way.
func TestTLSStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certify(t, 1, certFile, keyFile)
	s := touchlinetest.New(t, "sqlite:"+filepath.Join(dir, "db"), func(c *config.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "http://"), &tls.Config{InsecureSkipVerify: true}) // as above
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const body = `{"mobile_number": "98123 45678"}`
	fmt.Fprintf(conn, "POST /auth/request-otp HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:5])
	time.Sleep(100 * time.Millisecond)
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop() }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a request under way: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	_, _ = io.WriteString(conn, body[5:])
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusAccepted {
		t.Errorf("%v, %v", resp, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestShutdownWaitsForHTTP2Request: Shutdown waits for an HTTP/2 request whose body is
// still on its way.
func TestShutdownWaitsForHTTP2Request(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certify(t, 1, certFile, keyFile)
	s := touchlinetest.New(t, "sqlite:"+filepath.Join(dir, "db"), func(c *config.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	body, send := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, strings.Replace(s.URL, "http:", "https:", 1)+"/auth/request-otp", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	stopped := make(chan error, 1)
	go func() {
		_, _ = io.WriteString(send, `{"mobile_number": `)
		time.Sleep(100 * time.Millisecond)
		go func() { stopped <- s.Stop() }()
		time.Sleep(300 * time.Millisecond)
		_, _ = io.WriteString(send, `"98123 45678"}`)
		_ = send.Close()
	}()
	resp, err := stranger().Do(req)
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
