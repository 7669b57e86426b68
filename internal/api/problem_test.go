package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
)

const requestID = "0198f2c4-6a2b-7d10-8e44-1c9b5f7a2d03"

var updateProblems = flag.Bool("update-problems", false, "rewrite the golden files of problems")

// TestProblems compares problem documents and their headers with golden files.
func TestProblems(t *testing.T) {
	at := time.Date(2026, 3, 2, 14, 45, 12, 345678912, time.FixedZone("IST", 5*3600+1800))
	problems := map[string]error{
		"not_found":          fault.Missing(),
		"unavailable":        fault.Down(fmt.Errorf("disk full")),
		"overloaded":         fault.Overloaded("Wait."),
		"internal_error":     fmt.Errorf("secret"),
		"token_missing":      fault.New(fault.Unauthenticated, "token_missing", "Send an access token."),
		"token_expired":      fault.New(fault.Unauthenticated, "token_expired", "The access token has expired."),
		"otp_incorrect":      fault.New(fault.Invalid, "otp_incorrect", "Ask for a new OTP.").With("attempts_left", 4),
		"otp_send_limit":     fault.New(fault.TooMany, "otp_send_limit", "Wait.").With("limit", "otp_sends_per_hour").With("ends_at", at).After(1500 * time.Millisecond),
		"request_pending":    fault.New(fault.Conflict, "request_pending", "The request is open.").With("resend_allowed_at", at).With("request_id", requestID).After(48 * time.Hour),
		"profile_incomplete": fault.New(fault.Forbidden, "profile_incomplete", "Complete it.").With("missing", []string{"bio", "sports"}),
		"unknown_code":       fault.New(fault.Conflict, "of_tomorrow", "A code that is not in the catalogue."),
		"validation_failed":  fault.Validation([]fault.Field{{Pointer: "/student/date_of_birth", Code: "invalid_date", Detail: `<This> "date" does not exist.`}, {Pointer: "", Code: "invalid_value", Detail: "Neither."}}),
	}
	for name, err := range problems {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t).server.HandlerWith(api.TestRoute{Pattern: "/api/problem", Public: true, Handle: func(ctx context.Context) (endpoint.Response, error) { return endpoint.Response{}, err }})
			w := send(h, "POST", "/api/problem", "{}", "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
			var got bytes.Buffer
			fmt.Fprintf(&got, "%d\n", w.Code)
			var names []string
			for header := range w.Header() {
				names = append(names, header)
			}
			sort.Strings(names)
			for _, header := range names {
				fmt.Fprintf(&got, "%s: %s\n", header, w.Header().Get(header))
			}
			got.WriteByte('\n')
			if err := json.Indent(&got, w.Body.Bytes(), "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			compare(t, filepath.Join("testdata", "problems", name+".golden"), got.Bytes())
		})
	}
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *updateProblems {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// TestInvalidIDIsNotFound: a text that is not an id gets the response of a missing object.
func TestInvalidIDIsNotFound(t *testing.T) {
	a := newFixture(t)
	h := a.server.HandlerWith(api.TestRoute{Pattern: "/api/absent/{id}", Handle: func(ctx context.Context) (endpoint.Response, error) { return endpoint.Response{}, fault.Missing() }})
	token := "Authorization: Bearer " + a.token
	trace := "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	want := send(h, "POST", "/api/absent/1", "{}", token, trace)
	for _, path := range []string{"/auth/sessions/nonsense", "/auth/sessions/" + strings.ToUpper(requestID)} {
		if got := send(h, "DELETE", path, "", token, trace); got.Body.String() != want.Body.String() || got.Code != 404 {
			t.Errorf("%s: %s", path, got.Body)
		}
	}
}
