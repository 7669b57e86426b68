package httpx

import (
	"net/http"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/ratelimit"
)

// Scheme returns the scheme with which the client of r sent it: "https", "http", or "" if it is
// unknown. A trusted proxy says it in X-Forwarded-Proto. Without such a proxy only TLS of this
// listener is certain: another proxy may have ended TLS and say nothing.
func (s *Settings) Scheme(r *http.Request) string {
	schemes := headerList(r, "X-Forwarded-Proto")
	if len(schemes) == 0 || !ratelimit.IsTrusted(r.RemoteAddr, s.TrustedProxies) {
		if r.TLS != nil {
			return "https"
		}
		return ""
	}
	if slices.ContainsFunc(schemes, func(scheme string) bool { return strings.EqualFold(scheme, "https") }) {
		return "https"
	}
	// Of several proxies the last one may name the scheme of the one before it, which ended TLS.
	hops := headerList(r, "X-Forwarded-For")
	if len(hops) > 0 && ratelimit.IsTrusted(hops[len(hops)-1], s.TrustedProxies) {
		return ""
	}
	if slices.ContainsFunc(schemes, func(scheme string) bool { return !strings.EqualFold(scheme, "http") }) {
		return ""
	}
	return "http"
}

// headerList returns the elements of a header that is a list separated by commas.
func headerList(r *http.Request, name string) []string {
	values := r.Header.Values(name)
	if len(values) == 0 {
		return nil
	}
	list := strings.Split(strings.Join(values, ","), ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return slices.DeleteFunc(list, func(element string) bool { return element == "" })
}

// IsProbe reports whether load balancers and monitoring call the path, in many deployments over
// http and every few seconds.
func IsProbe(path string) bool { return path == "/healthz" || path == "/readyz" || path == "/metrics" }

// mustUseHTTPS reports whether the client sent r over http although it must use https.
func (m *Middleware) mustUseHTTPS(r *http.Request) bool {
	return m.HTTPSOnly && !IsProbe(r.URL.Path) && m.Scheme(r) == "http"
}

// requireHTTPS redirects a request that was sent over http. It refuses a request that may have
// a body: the client has sent it unencrypted, and must learn that.
func (m *Middleware) requireHTTPS(w http.ResponseWriter, r *http.Request, info *RequestInfo) {
	w.Header()["Cache-Control"] = noStore
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		target := m.PublicURL + "/" + strings.TrimPrefix(r.URL.EscapedPath(), "/")
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	err := fault.New(fault.Forbidden, "https_required", "This request was sent over http, so others can read it. Send it to %s. If it had a token or an OTP, sign out and sign in again.", m.PublicURL)
	if m.Refuse != nil {
		m.Refuse(w, r, err)
		return
	}
	m.WriteProblem(w, r, info, err)
}
