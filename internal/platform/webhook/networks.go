package webhook

import (
	"net/netip"
	"slices"
	"strings"
)

// Networks are the private networks that messages may go to. Public addresses are always
// allowed.
type Networks []netip.Prefix

// Allows reports whether a message may go to an address.
func (n Networks) Allows(addr netip.Addr) bool {
	addr = addr.Unmap()
	return n.Contains(addr) || isPublic(addr)
}

// Contains reports whether an address is in one of the networks.
func (n Networks) Contains(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.Zone() == "" && slices.ContainsFunc(n, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// privateSuffixes end names that the public DNS does not have (RFC 6761, 6762, 8375, ICANN's
// .internal).
var privateSuffixes = []string{".localhost", ".local", ".internal", ".home.arpa"}

// AllowsHTTP reports whether a URL with this host may be http: others can read and change what
// travels so through the internet. The sender checks the address of a name.
func (n Networks) AllowsHTTP(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return n.Contains(addr)
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return len(n) > 0 && (!strings.Contains(name, ".") ||
		slices.ContainsFunc(privateSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) }))
}

// notPublic are the networks that are not part of the public internet (the special-purpose
// registries of IANA, RFC 6890), and the IPv6 networks that carry an IPv4 address, through
// which a router could reach a private one.
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// publicIPv6 contains every public IPv6 address. The networks in notPublic are exceptions.
var publicIPv6 = netip.MustParsePrefix("2000::/3")

func isPublic(addr netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" || addr.Is6() && !publicIPv6.Contains(addr) {
		return false
	}
	return !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(addr) })
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}
