package httpx

import (
	"net/http"

	"github.com/rs/cors"
)

// preflightAge is how long in seconds a browser remembers that it may send a request. A
// removed origin cannot read responses from then on, but may send requests for this time.
const preflightAge = 600

// CrossOrigin returns a middleware that lets browser apps of these origins call the API and
// read its responses (CORS). It never allows credentials: such an app sends an access token,
// and no cookie. Other origins get the same responses without the headers that make a
// browser show them to the app. Without origins the middleware does nothing.
func CrossOrigin(origins []string) func(http.Handler) http.Handler {
	if len(origins) == 0 {
		return func(next http.Handler) http.Handler { return next }
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		// Every header that the API reads and that is not always allowed, as Accept is.
		AllowedHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", "Range", "Traceparent"},
		// Every header of responses that an app may need; browsers show Cache-Control and
		// Content-Type anyway.
		ExposedHeaders: []string{"Allow", "Content-Disposition", "Content-Range", "ETag", "Idempotent-Replayed", "Location", "Retry-After", "WWW-Authenticate", "X-Trace-Id"},
		MaxAge:         preflightAge,
	}).Handler
}
