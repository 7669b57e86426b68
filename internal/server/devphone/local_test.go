package devphone_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/devphone"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// calls are one request of each route below /dev, with what a program on this machine gets.
var calls = map[string]int{
	"GET /dev/phones":                          200,
	"HEAD /dev/phones":                         200,
	"GET /dev/identity":                        200,
	"GET /dev/phones?number=%2B919812300001":   200,
	"POST /dev/phones":                         303,
	"POST /dev/phones/press":                   303,
	"GET /dev/phones/events":                   200,
	"GET /dev/messages?number=%2B919812300001": 200,
	"POST /dev/consents":                       422,
	"POST /dev/clock":                          422,
}

// TestCallsAreAllRoutes: calls has every route of the phones.
func TestCallsAreAllRoutes(t *testing.T) {
	var routes []string
	s := new(devphone.Phones)
	for _, r := range s.Operations(nil) {
		routes = append(routes, r.Method+" "+r.Pattern)
	}
	for _, r := range s.Pages(nil) {
		routes = append(routes, r.Method+" "+r.Pattern)
	}
	for _, route := range routes {
		if _, ok := calls[route]; !ok && route != "GET /dev/messages" {
			t.Errorf("calls has no %s", route)
		}
	}
	if len(routes) < 7 {
		t.Errorf("got %v", routes)
	}
}

// raw sends a request as it is, and returns the status of the response.
func raw(t *testing.T, s *touchlinetest.Service, call, protocol, host string, headers ...string) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	method, path, _ := strings.Cut(call, " ")
	lines := append([]string{method + " " + path + " " + protocol, "Host: " + host}, headers...)
	if method == "POST" {
		kind, body := "application/json", "{}"
		if strings.HasPrefix(path, "/dev/phones") {
			kind, body = "application/x-www-form-urlencoded", "text=x"
		}
		lines = append(lines, "Content-Type: "+kind, fmt.Sprint("Content-Length: ", len(body)), "", body)
	} else {
		lines = append(lines, "", "")
	}
	fmt.Fprint(conn, strings.Join(lines, "\r\n"))
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	return resp.StatusCode
}

// TestProxies sends what the common proxies send with their defaults, from a local peer. Every path below /dev is missing behind each.
func TestProxies(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), development)
	address := strings.TrimPrefix(s.URL, "http://")
	type proxy struct {
		protocol, host string
		headers        []string
	}
	from := []string{"X-Forwarded-For: 203.0.113.7"}
	with := func(headers ...string) proxy { return proxy{"HTTP/1.1", address, headers} }
	for name, p := range map[string]proxy{
		// proxy_pass http://127.0.0.1:8080 alone: HTTP/1.0 with the Host of the address.
		"nginx":                        {"HTTP/1.0", address, []string{"Connection: close"}},
		"nginx, Host of the client":    {"HTTP/1.0", "touchline.example", []string{"Connection: close"}},
		"nginx, Host kept in 1.1":      {"HTTP/1.1", "touchline.example", []string{"Connection: close"}},
		"nginx, X-Real-IP":             with("X-Real-IP: 203.0.113.7", "Connection: close"),
		"nginx, X-Forwarded-Host":      with("X-Forwarded-Host: touchline.example"),
		"nginx, X-Forwarded-Proto":     with("X-Forwarded-Proto: https"),
		"nginx, X-Scheme":              with("X-Scheme: https"),
		"nginx, X-NginX-Proxy":         with("X-NginX-Proxy: true"),
		"nginx, X-Original-URI":        with("X-Original-URI: /dev/phones"),
		"ingress-nginx":                with("X-Request-ID: 1", "X-Real-IP: 203.0.113.7", "X-Forwarded-Scheme: https", "X-Scheme: https"),
		"Apache":                       with("X-Forwarded-For: 203.0.113.7", "X-Forwarded-Host: touchline.example", "X-Forwarded-Server: touchline.example"),
		"Apache with ProxyVia":         with("Via: 1.1 touchline.example"),
		"Caddy":                        {"HTTP/1.1", "touchline.example", []string{"X-Forwarded-For: 203.0.113.7", "X-Forwarded-Host: touchline.example", "X-Forwarded-Proto: https", "Via: 1.1 Caddy"}},
		"HAProxy":                      {"HTTP/1.1", "touchline.example", nil},
		"HAProxy, option forwardfor":   with(from...),
		"HAProxy, option forwarded":    with("Forwarded: proto=http;for=203.0.113.7"),
		"Traefik":                      with("X-Forwarded-For: 203.0.113.7", "X-Forwarded-Host: touchline.example", "X-Forwarded-Port: 443", "X-Forwarded-Proto: https", "X-Forwarded-Server: t", "X-Real-Ip: 203.0.113.7"),
		"Envoy":                        with("X-Forwarded-Proto: https", "X-Envoy-Expected-Rq-Timeout-Ms: 15000", "X-Request-Id: 1"),
		"Envoy, other headers removed": with("X-Envoy-Expected-Rq-Timeout-Ms: 15000"),
		"Envoy, attempt":               with("x-envoy-attempt-count: 1"),
		"Cloudflare":                   with("CF-Connecting-IP: 203.0.113.7"),
		"Cloudflare, ray":              with("CF-RAY: 1-BOM"),
		"Cloudflare, CDN-Loop":         with("CDN-Loop: cloudflare"),
		"cloudflared":                  with("Cf-Visitor: {\"scheme\":\"https\"}", "Cf-Warp-Tag-Id: 1"),
		"Enterprise, True-Client-IP":   with("True-Client-IP: 203.0.113.7"),
		"AWS ALB":                      with("X-Amzn-Trace-Id: Root=1-67891233-abcdef012345678912345678"),
		"AWS CloudFront":               with("X-Amz-Cf-Id: 1", "Via: 1.1 x.cloudfront.net (CloudFront)"),
		"CloudFront, viewer":           with("CloudFront-Viewer-Address: 203.0.113.7:1"),
		"Google load balancer":         with("X-Cloud-Trace-Context: 1/2", "Via: 1.1 google"),
		"App Engine":                   with("X-Appengine-Country: IN"),
		"Azure Front Door":             with("X-Azure-ClientIP: 203.0.113.7", "X-Azure-FDID: 1"),
		"Azure App Service":            with("X-ARR-LOG-ID: 1", "X-Client-IP: 203.0.113.7"),
		"IIS ARR":                      with("X-Original-URL: /dev/phones", "X-ARR-SSL: 1"),
		"Fly":                          with("Fly-Client-IP: 203.0.113.7"),
		"Vercel":                       with("X-Vercel-Forwarded-For: 203.0.113.7"),
		"Netlify":                      with("X-Nf-Client-Connection-Ip: 203.0.113.7"),
		"Heroku":                       with("X-Request-Start: 1795000000000", "Via: 1.1 heroku-router"),
		"Render":                       with("Rndr-Id: 1", "True-Client-Ip: 203.0.113.7"),
		"Railway":                      with("X-Railway-Edge: x"),
		"Fastly":                       with("Fastly-Client-IP: 203.0.113.7"),
		"Akamai":                       with("Akamai-Origin-Hop: 1"),
		"Varnish":                      with("X-Varnish: 32770"),
		"Squid":                        with("Via: 1.1 squid", "X-Forwarded-For: unknown"),
		"ngrok":                        {"HTTP/1.1", "x.ngrok-free.app", []string{"X-Forwarded-For: 203.0.113.7", "X-Forwarded-Proto: https"}},
		"ngrok, Host rewritten":        with("X-Forwarded-Host: x.ngrok-free.app"),
		"Tailscale serve":              with("Tailscale-User-Login: x@example.org"),
		"Imperva":                      with("Incap-Client-IP: 203.0.113.7"),
		"Sucuri":                       with("X-Sucuri-ClientIP: 203.0.113.7"),
		"WebLogic":                     with("WL-Proxy-Client-IP: 203.0.113.7"),
		"Rackspace":                    with("X-Cluster-Client-IP: 203.0.113.7"),
		"Client-IP":                    with("Client-IP: 203.0.113.7"),
		"X-Remote-Addr":                with("X-Remote-Addr: 203.0.113.7"),
		"old proxy":                    with("Proxy-Connection: keep-alive"),
		"DigitalOcean":                 with("DO-Connecting-IP: 203.0.113.7"),
		"Alibaba":                      with("Ali-Cdn-Real-Ip: 203.0.113.7"),
		"Tencent":                      with("Cdn-Src-Ip: 203.0.113.7"),
		"ArvanCloud":                   with("Ar-Real-Ip: 203.0.113.7"),
		"Zscaler":                      with("Z-Forwarded-For: 203.0.113.7"),
		"Kong":                         with("X-Kong-Request-Id: 1"),
		"oauth2-proxy":                 with("X-Auth-Request-User: x"),
		"Pomerium":                     with("X-Pomerium-Jwt-Assertion: x"),
		"dev tunnels":                  with("X-Tunnel-Authorization: x"),
		"Microsoft":                    with("Front-End-Https: On"),
		"X-Coming-From":                with("X-Coming-From: 203.0.113.7"),
		"X-Forwarder-For":              with("X-Forwarder-For: 203.0.113.7"),
		"X-Originating-IP":             with("X-Originating-IP: 203.0.113.7"),
		"X-True-Client-IP":             with("X-True-Client-IP: 203.0.113.7"),
		"Real-IP":                      with("Real-IP: 203.0.113.7"),
		"Remote-Addr":                  with("Remote-Addr: 203.0.113.7"),
		"X-Rewrite-URL":                with("X-Rewrite-URL: /dev/phones"),
		"empty X-Forwarded-For":        with("X-Forwarded-For:"),
		"empty Forwarded":              with("Forwarded:"),
		// A browser shows where a proxy answers that adds nothing.
		"page of a proxy": with("Origin: https://touchline.example"),
		"link of a proxy": with("Referer: https://touchline.example/dev/phones"),
		// A page that hides where it is.
		"site without a referrer": with("Sec-Fetch-Site: cross-site"),
		"frame of a site":         with("Sec-Fetch-Site: cross-site", "Origin: null"),
		"rebound name":            {"HTTP/1.1", "rebound.example", nil},
		"name below localhost":    {"HTTP/1.1", "localhost.rebound.example", nil},
		"name like an address":    {"HTTP/1.1", "127.0.0.1.rebound.example:8080", nil},
		"address of the machine":  {"HTTP/1.1", "192.0.2.1:8080", nil},
		"no host":                 {"HTTP/1.1", "", nil},
	} {
		for call := range calls {
			got := raw(t, s, call, p.protocol, p.host, p.headers...)
			if crossSite := slices.Contains([]string{"page of a proxy", "site without a referrer", "frame of a site"}, name) && strings.HasPrefix(call, "POST /dev/phones"); got != 404 && !(crossSite && got == 403) {
				t.Errorf("%s: %s: got %d, want 404", name, call, got)
			}
		}
	}
	_, port, _ := net.SplitHostPort(address)
	for name, p := range map[string]proxy{
		"curl":                   with("User-Agent: curl/8.5.0", "Accept: */*"),
		"a client that closes":   with("Connection: close", "Accept-Encoding: identity", "User-Agent: Python-urllib/3.11"),
		"localhost":              {"HTTP/1.1", "LocalHost:" + port, nil},
		"IPv6":                   {"HTTP/1.1", "[::1]:" + port, nil},
		"no port":                {"HTTP/1.1", "127.0.0.1", nil},
		"a traced app":           with("Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-Request-Id: 1"),
		"the page itself":        with("Origin: http://127.0.0.1:"+port, "Sec-Fetch-Site: same-origin", "Referer: http://127.0.0.1:"+port+"/dev/phones"),
		"a page on this machine": with("Referer: http://localhost:5173/"),
		"an address":             with("Sec-Fetch-Site: none"),
	} {
		for call, want := range calls {
			if got := raw(t, s, call, p.protocol, p.host, p.headers...); got != want {
				t.Errorf("%s: %s: got %d, want %d", name, call, got, want)
			}
		}
	}
}

// TestPeerOnAnotherMachine: a peer that is not on loopback reads nothing, whatever it sends.
func TestPeerOnAnotherMachine(t *testing.T) {
	s := new(devphone.Phones)
	for _, peer := range []string{"192.0.2.1:1234", "[2001:db8::1]:1234", "[::ffff:192.0.2.1]:1234", "10.0.0.1:1", "", "@"} {
		for _, route := range s.Operations(nil) {
			r := httptest.NewRequest(route.Method, "http://127.0.0.1:8080"+route.Pattern, nil)
			r.RemoteAddr = peer
			if _, err := route.Authenticate(r); err == nil {
				t.Errorf("%s answers %q", route.Pattern, peer)
			}
			r.RemoteAddr = "[::ffff:127.0.0.1]:1234"
			if _, err := route.Authenticate(r); err != nil {
				t.Errorf("%s does not answer a local peer: %v", route.Pattern, err)
			}
		}
	}
}
