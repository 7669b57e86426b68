package ratelimit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Address returns the network that the rate limit of a request counts: the IPv4
// address of the client, or its IPv6 /64, because a provider assigns a /64 to one
// customer. It trusts X-Forwarded-For only from trusted proxies.
func Address(r *http.Request, trusted []netip.Prefix) string {
	return Network(Client(r.RemoteAddr, r.Header.Values("X-Forwarded-For"), trusted))
}

// Client returns the address of the client. If remote is a trusted proxy, it is the
// rightmost address of X-Forwarded-For that is not a trusted proxy, because a client can
// forge everything to the left of it. It is the zero Addr if remote is not an address.
func Client(remote string, forwarded []string, trusted []netip.Prefix) netip.Addr {
	client := parseAddr(remote)
	if len(trusted) == 0 {
		return client
	}
	hops := strings.Split(strings.Join(forwarded, ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !contains(trusted, client) {
			break
		}
		previous := parseAddr(strings.TrimSpace(hop))
		if !previous.IsValid() {
			break
		}
		client = previous
	}
	return client
}

// IsTrusted reports whether an address, with or without port, belongs to a trusted proxy.
func IsTrusted(address string, trusted []netip.Prefix) bool {
	return contains(trusted, parseAddr(strings.TrimSpace(address)))
}

func contains(prefixes []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// parseAddr parses an address with or without port and brackets.
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

// Network returns the address of an IPv4 client or the /64 of an IPv6 client.
func Network(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
