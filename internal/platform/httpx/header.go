package httpx

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// CodeTokenMissing is the error code of a request without a bearer token. A malformed
// token has the code token_invalid.
const CodeTokenMissing = "token_missing"

// Bearer returns the token of the Authorization header (RFC 6750, section 2.1).
// It ignores a token in the query, because URLs end up in logs.
func Bearer(h http.Header) (string, error) {
	values := h.Values("Authorization")
	if len(values) > 1 {
		return "", errBearer("There must be one Authorization header.")
	}
	if len(values) == 0 {
		return "", errNoBearer()
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.Trim(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", errNoBearer()
	}
	if strings.Trim(token, token68) != "" {
		return "", errBearer("This is not an access token.")
	}
	return token, nil
}

// token68 holds the characters of a bearer token (RFC 6750, section 2.1).
const token68 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/="

func errNoBearer() error {
	return fault.New(fault.Unauthenticated, CodeTokenMissing, "Send an access token as Authorization: Bearer. If you have none, sign in again.")
}

func errBearer(detail string) error {
	return fault.New(fault.Unauthenticated, "token_invalid", "%s If you have no valid token, sign in again.", detail)
}

// RetryAfter parses a Retry-After header (RFC 9110, section 10.2.3): seconds or a date. It
// returns zero if the header is absent or invalid.
func RetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
