package config

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/phone"
)

// derive fills what follows from other settings and was not set itself, and brings
// what was set into one spelling.
func (c *Config) derive() {
	c.DefaultRegion = strings.ToUpper(c.DefaultRegion)
	for i, country := range c.Countries {
		c.Countries[i] = strings.ToUpper(country)
	}
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	if strings.HasPrefix(string(c.SMS), "http://") || strings.HasPrefix(string(c.SMS), "https://") {
		c.SMS = "http:" + c.SMS // the address alone means the same
	}
	if !c.isSet("PUBLIC_URL") {
		c.PublicURL = c.publicURL(c.Addr)
	}
	if !c.isSet("DATABASE_URL") {
		c.DatabaseURL = SecretURL("sqlite:" + filepath.Join(c.DataDir, "touchline.db"))
	}
	if !c.isSet("FILES") {
		c.Files = c.filesByDefault()
	}
	if !c.isSet("COUNTRIES") {
		c.Countries = []string{c.DefaultRegion}
		if c.SMS == "log" {
			c.Countries = []string{"*"} // nothing leaves the machine
		}
	}
	if !c.isSet("REFRESH_TOKEN_IDLE") {
		// Whoever shortens the lifetime alone means both.
		c.RefreshTokenIdle = min(c.RefreshTokenIdle, c.RefreshTokenLifetime)
	}
}

// Listening tells c the address that was taken in the end, so that a PUBLIC_URL
// that was not set names the port where ADDR asked for a free one.
func (c *Config) Listening(addr net.Addr) {
	if c.isSet("PUBLIC_URL") {
		return
	}
	host, _, err := net.SplitHostPort(c.Addr)
	_, port, err2 := net.SplitHostPort(addr.String())
	if err == nil && err2 == nil {
		c.PublicURL = c.publicURL(net.JoinHostPort(host, port))
	}
}

// publicURL is where a browser on this machine finds what listens on addr.
func (c *Config) publicURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "" // ADDR is at fault, which Validate says
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	if c.TLSOn() {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Development says whether this is a set-up on somebody's own machine: reachable
// from there alone, its messages printed and not sent.
func (c *Config) Development() bool {
	host, _, err := net.SplitHostPort(c.Addr)
	return err == nil && isLoopback(host) && c.SMS == "log"
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || err != nil && strings.EqualFold(host, "localhost")
}

// CountryAllowed says whether an SMS may go to a number of that ISO country, as
// phone.Number's Region gives it. A number of no country needs *.
func (c *Config) CountryAllowed(region string) bool {
	return slices.Contains(c.Countries, "*") || slices.Contains(c.Countries, region)
}

// Reaches says whether an SMS may go to n. Its country is looked up only where
// that matters.
func (c *Config) Reaches(n phone.Number) bool {
	return slices.Contains(c.Countries, "*") || c.CountryAllowed(n.Region())
}

// MakeDataDir makes the data folder, for its owner alone, where the database
// stands in it.
func (c *Config) MakeDataDir() error {
	if c.isSet("DATABASE_URL") {
		return nil
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	return nil
}

// TestCode returns the fixed code of a test number, and false for every other
// number and after the last day.
func (c *Config) TestCode(n phone.Number, now time.Time) (Secret, bool) {
	for _, t := range c.TestNumbers {
		if t.Number == n && now.Before(t.Until) {
			return t.Code, true
		}
	}
	return "", false
}
