package touchline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Problem is an RFC 9457 problem: the service refused a call. Code is for programs and may be one that this version does not
// know; Detail is for people.
type Problem struct {
	Type    string       `json:"type"`
	Title   string       `json:"title"`
	Status  int          `json:"status"`
	Detail  string       `json:"detail"`
	Code    string       `json:"code"`
	TraceID string       `json:"trace_id"`
	Errors  []FieldError `json:"errors,omitempty"`
	// Members has every member, also those that only some codes have, such as attempts_left.
	Members map[string]json.RawMessage `json:"-"`
	// RetryAfter is the wait that the service asked for; 0 if it did not.
	RetryAfter time.Duration `json:"-"`
}

// FieldError is one fault of a request. Pointer names the field (RFC 6901).
type FieldError struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// Member decodes a member that only some codes have into out. It reports whether the problem has the member.
func (p *Problem) Member(name string, out any) bool {
	raw, ok := p.Members[name]
	return ok && json.Unmarshal(raw, out) == nil
}

// HasCode reports whether err is a Problem with this code.
func HasCode(err error, code string) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && p.Code == code
}

// SignedOut is returned when there is no session any more. Reason is the code that ended it, or "signed_out".
type SignedOut struct{ Reason string }

func (e *SignedOut) Error() string { return "signed out: " + e.Reason }

// maxProblem bounds the bytes that are read of a problem.
const maxProblem = 1 << 20

// problemOf reads and closes the body of a response with an error. A response of a proxy gets the code http_<status>.
func problemOf(resp *http.Response) *Problem {
	defer resp.Body.Close()
	p := &Problem{RetryAfter: retryAfter(resp)}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err == nil && json.Unmarshal(body, p) == nil && p.Code != "" {
		_ = json.Unmarshal(body, &p.Members) // the same bytes were decoded above
		return p
	}
	title := http.StatusText(resp.StatusCode)
	return &Problem{
		Type: "about:blank", Title: title, Status: resp.StatusCode, Detail: title, Code: fmt.Sprintf("http_%d", resp.StatusCode),
		TraceID: resp.Header.Get("X-Trace-Id"), RetryAfter: p.RetryAfter,
	}
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
