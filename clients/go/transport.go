package touchline

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"time"
)

const (
	// attempts is how often a request is sent at most.
	attempts = 5
	// longestWait is the longest Retry-After that a call waits for; a longer one is an error for the caller to show.
	longestWait = 20 * time.Second
)

// transport repeats requests. A request without a response, or with 5xx, is repeated only if that is safe: with an
// Idempotency-Key, which a POST that takes one gets, and with every other method. 429 rate_limited, 503 and 409 request_in_progress
// are repeated after Retry-After.
type transport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if takesKey(req) && req.Header.Get("Idempotency-Key") == "" {
		req.Header.Set("Idempotency-Key", rand.Text())
	}
	if err := bufferBody(req); err != nil {
		return nil, err
	}
	safe := req.Method != http.MethodPost || req.Header.Get("Idempotency-Key") != "" || strings.HasSuffix(req.URL.Path, "/auth/refresh")
	for attempt := 1; ; attempt++ {
		again := req.Clone(req.Context())
		if req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			again.Body = body
		}
		resp, err := t.next.RoundTrip(again)
		last := attempt == attempts || req.Context().Err() != nil
		wait := growingWait(attempt)
		switch {
		case err != nil && (last || !safe):
			return nil, err
		case err == nil:
			if last || !transient(resp, safe) || retryAfter(resp) > longestWait {
				return resp, nil
			}
			wait = max(wait, retryAfter(resp))
			_ = resp.Body.Close()
		}
		if err := sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// bufferBody makes a body that can be sent again.
func bufferBody(req *http.Request) error {
	if req.Body == nil || req.GetBody != nil {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return fmt.Errorf("read the body of the request: %w", err)
	}
	_ = req.Body.Close()
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}

func transient(resp *http.Response, safe bool) bool {
	switch resp.StatusCode {
	case http.StatusConflict:
		return peekCode(resp) == "request_in_progress"
	case http.StatusTooManyRequests:
		return peekCode(resp) == "rate_limited"
	case http.StatusServiceUnavailable:
		return safe || peekCode(resp) == "overloaded"
	default:
		return safe && resp.StatusCode >= 500
	}
}

// peekCode returns the code of a problem and leaves the body to be read again.
func peekCode(resp *http.Response) string {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem)) // a body that cannot be read has no code
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	code := problemOf(resp).Code
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return code
}

// growingWait returns 0.25 to 0.5, 0.5 to 1, 1 to 2 seconds and so on, at most 30 s.
func growingWait(attempt int) time.Duration {
	most := min(500*time.Millisecond*time.Duration(math.Pow(2, float64(min(attempt, 10)-1))), 30*time.Second)
	return most/2 + mathrand.N(most/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
