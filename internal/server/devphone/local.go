package devphone

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/fault"
)

// proxyHeaders are what proxies, load balancers, tunnels and content networks add to a request, by the beginning of the name.
var proxyHeaders = []string{
	// Standards, and what most proxies add: Apache, Caddy, Traefik, HAProxy with option forwardfor, AWS, Heroku, Render, ngrok, cloudflared, Tailscale.
	"Forwarded", "Via", "X-Forwarded", "X-Real-", "X-Original-", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Remote-", "X-Host", "X-Scheme", "X-Ssl", "X-Proxy", "X-Nginx",
	"X-Request-Start", "Client-Ip", "True-Client-Ip", "X-True-Client-Ip", "Real-Ip", "Remote-Addr", "Proxy-", "Wl-Proxy-", "Max-Forwards", "Surrogate-", "X-Forwarder", "X-Coming-From",
	"X-Originating-Ip", "X-Rewrite-Url", "X-Auth-Request-", "Front-End-Https",
	// One product each.
	"Akamai-", "Ali-Cdn-", "Ar-Real-", "Arr-", "Cdn-", "Cf-", "Cloudfront-", "Do-Connecting-", "Fastly-", "Fly-", "Incap-", "Ngrok-", "Rndr-", "Tailscale-", "X-Akamai-", "X-Amz-Cf-", "X-Amzn-", "X-Appengine-", "X-Arr-",
	"X-Appservice-", "X-Azure-", "X-Bluecoat-", "X-Client-Trace", "X-Cloud-Trace-Context", "X-Envoy-", "X-Goog-", "X-Haproxy-", "X-Iinfo", "X-Kong-", "X-Nf-", "X-Now-", "X-Pomerium-", "X-Railway-", "X-Replit-", "X-Sucuri-", "X-Tunnel-", "X-Varnish", "X-Vercel-", "Z-Forwarded-",
}

// onlyLocal returns not_found unless the request is from a program on this machine that named this machine.
func onlyLocal(r *http.Request) (api.Caller, error) { return api.Caller{}, checkLocal(r) }

// checkLocal returns not_found for a request that came through a proxy, from a page of a website, or to another host: a website whose name
// leads to 127.0.0.1 could read the codes otherwise. A proxy on this machine is a local peer too, so a request with any mark of a proxy is
// refused. nginx adds none by default and names 127.0.0.1; up to 1.29.6 it speaks HTTP/1.0, which browsers and libraries do not. A proxy that
// adds nothing and speaks HTTP/1.1 looks like a program on this machine, so docs/testing.md forbids any.
func checkLocal(r *http.Request) error {
	if !isLoopback(hostOf(r.RemoteAddr)) || !isLoopback(hostOf(r.Host)) || !r.ProtoAtLeast(1, 1) || isProxied(r.Header) || isForeign(r.Header) {
		return fault.Missing()
	}
	return nil
}

// hostOf returns the host of host:port or host, an IPv6 address without brackets.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// isProxied reports whether a proxy has added a header.
func isProxied(h http.Header) bool {
	for name := range h {
		if slices.ContainsFunc(proxyHeaders, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return true
		}
	}
	return false
}

// isForeign reports whether a browser has a page of another machine open: it shows the address at which a proxy answers. A page can hide its
// address, but not that it is of another site, unless a page of this machine sends the request.
func isForeign(h http.Header) bool {
	local := false
	for _, name := range []string{"Origin", "Referer"} {
		for _, value := range h[name] {
			if value == "null" { // a form of a page without referrer; web checks that its site is the same
				continue
			}
			if u, err := url.Parse(value); err != nil || !isLoopback(u.Hostname()) {
				return true
			}
			local = true
		}
	}
	return !local && slices.Contains(h["Sec-Fetch-Site"], "cross-site")
}
