package database

import (
	"net/netip"
	"slices"
	"strings"
)

// PlainHosts returns the hosts of a PostgreSQL URL, other than this machine, to which connections
// begin without TLS, as with sslmode=disable. It is empty for SQLite and for a URL that CheckURL
// refuses.
func PlainHosts(url string) []string {
	t, err := parseURL(url, Options{})
	if err != nil || t.engine != postgres {
		return nil
	}
	var plain []string
	seen := map[string]bool{} // with sslmode=prefer the second attempt at a host has no TLS
	add := func(host string, encrypted bool) {
		if !encrypted && !seen[host] && !isThisMachine(host) {
			plain = append(plain, host)
		}
		seen[host] = true
	}
	add(t.config.Host, t.config.TLSConfig != nil)
	for _, f := range t.config.Fallbacks {
		add(f.Host, f.TLSConfig != nil)
	}
	return slices.Clip(plain)
}

// isThisMachine reports whether host is the folder of a socket or a loopback address.
func isThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
