package httpx

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/cors"
)

// preflightAge is how long in seconds a browser remembers that it may send a request. A
// removed origin cannot read responses from then on, but may send requests for this time.
const preflightAge = 600

// maxRefused is how many refused origins a process reports, so that a stranger cannot fill the log.
const maxRefused = 20

// Origins are the origins whose browser apps may call the API.
type Origins struct {
	Allowed []string
	// Loopback allows every origin on this machine, for development.
	Loopback bool
	// Refused is called once for each of the first origins that are refused; nil reports none.
	Refused func(origin string)
}

// allow reports whether browser apps of origin may call the API.
func (o Origins) allow(origin string) bool {
	if slices.Contains(o.Allowed, strings.ToLower(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	return o.Loopback && err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

// CrossOrigin returns a middleware that lets browser apps of these origins call the API and
// read its responses (CORS). It never allows credentials: such an app sends an access token,
// and no cookie. Other origins get the same responses without the headers that make a
// browser show them to the app.
func CrossOrigin(o Origins) func(http.Handler) http.Handler {
	headers := func(next http.Handler) http.Handler { return next }
	if len(o.Allowed) > 0 || o.Loopback {
		headers = cors.New(cors.Options{
			AllowOriginFunc: o.allow,
			AllowedMethods:  []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
			// Every header that the API reads and that is not always allowed, as Accept is.
			AllowedHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", "Range", "Traceparent"},
			// Every header of responses that an app may need; browsers show Cache-Control and
			// Content-Type anyway.
			ExposedHeaders: []string{"Allow", "Content-Disposition", "Content-Range", "ETag", "Idempotent-Replayed", "Location", "Retry-After", "WWW-Authenticate", "X-Trace-Id"},
			MaxAge:         preflightAge,
		}).Handler
	}
	if o.Refused == nil {
		return headers
	}
	var reported sync.Map
	var count atomic.Int32
	return func(next http.Handler) http.Handler {
		next = headers(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if origin := r.Header.Get("Origin"); isOther(origin, r.Host) && !o.allow(origin) && count.Load() < maxRefused {
				if _, before := reported.LoadOrStore(origin, true); !before && count.Add(1) <= maxRefused {
					o.Refused(origin)
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// isOther reports whether origin is that of a page of another host.
func isOther(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && !strings.EqualFold(u.Host, host)
}
