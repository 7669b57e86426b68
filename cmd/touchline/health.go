package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/config"
)

// healthTimeout is longer than the check of the database by /readyz, which takes at most 5 s.
const healthTimeout = 8 * time.Second

// health asks /readyz of the service that runs on this machine with these settings.
func health(ctx context.Context, cfg *config.Config, c *cobra.Command) error {
	target, err := readyURL(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", target, err)
	}
	client := &http.Client{Transport: &http.Transport{
		// The certificate names the public host, not this address. Only a status is read.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("read %s: %w", target, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d: %s", target, resp.StatusCode, body)
	}
	return printResult(c, map[string]bool{"ready": true}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "ready")
		return err
	})
}

// readyURL returns the address of /readyz at ADDR. A listener on all interfaces is asked on the loopback interface.
func readyURL(cfg *config.Config) (string, error) {
	host, port, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	if cfg.TLSOn() {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/readyz", nil
}
