package ratelimit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Address returns the network to which a request is counted: an IPv4 address, or
// the /64 of an IPv6 one, for that is what one customer has. X-Forwarded-For is
// believed of trusted proxies alone.
func Address(r *http.Request, trusted []netip.Prefix) string {
	return Network(Client(r.RemoteAddr, r.Header.Values("X-Forwarded-For"), trusted))
}

// Client returns who sent a request. Where that is a trusted proxy, it is
// the rightmost address of X-Forwarded-For that is not one: everything to the
// left of it may be made up. It is the zero Addr where even remote is no address.
func Client(remote string, forwarded []string, trusted []netip.Prefix) netip.Addr {
	at := parseAddr(remote)
	if len(trusted) == 0 {
		return at
	}
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !contains(trusted, at) {
			break
		}
		before := parseAddr(strings.TrimSpace(hop))
		if !before.IsValid() {
			break
		}
		at = before
	}
	return at
}

func contains(prefixes []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// parseAddr reads an address with or without a port, in brackets or not.
func parseAddr(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// Network returns the network that a is counted as.
func Network(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
