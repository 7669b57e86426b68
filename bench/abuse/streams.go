package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx/http2test"
)

// paths have responses without limits, and errors with a body.
var paths = []string{"/healthz", "/readyz", "/api/me", "/nothing"}

// windows keeps n connections open, each with as many streams that wait for a window of 0, until ctx ends.
func (s *sender) windows(ctx context.Context, n, streams int) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(s.from[i%len(s.from)])}}
			for ctx.Err() == nil {
				s.window(ctx, &d, streams)
				sleep(ctx, pause)
			}
		})
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
}

// window opens streams, and a new one for each that ends.
func (s *sender) window(ctx context.Context, d *net.Dialer, streams int) {
	conn, err := d.DialContext(ctx, "tcp", s.target)
	if err != nil {
		s.counts.add(s.name, 0)
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() }) //nolint:errcheck // it is not needed any more
	defer stop()
	c, err := http2test.New(ctx, conn, 0)
	if err != nil {
		s.counts.add(s.name, 0)
		return
	}
	header := strings.Repeat("x", 1000)
	go func() {
		for ctx.Err() == nil {
			for i := range streams {
				if _, err := c.Get(paths[i%len(paths)], "x-padding", header); err != nil {
					return
				}
			}
			sleep(ctx, pause)
		}
	}()
	for {
		e, err := c.Next()
		if err != nil {
			return
		}
		if e.Status != 0 {
			s.counts.add(s.name, e.Status)
		}
	}
}

// writeCertificate writes a certificate and its key to a folder.
func writeCertificate(folder string) (certificate, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	public, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	certificate, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public}), 0o600); err != nil {
		return "", "", err
	}
	return certificate, key, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}
