package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// answerToHeaders sends a request without its body and returns the response.
func answerToHeaders(t *testing.T, s *touchlinetest.Service, method, path string, headers ...string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(15 * time.Second)) // less than the service waits for a body
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", method, path, strings.TrimPrefix(s.URL, "http://"), strings.Join(headers, "\r\n")); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s %s: %v; want a response before the body", method, path, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	return resp
}

// TestRefusedBeforeBody: the caller, the role, the tier and the slots are checked before the
// first byte of a large body arrives, on pages as in the API.
func TestRefusedBeforeBody(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.NewWith(t, url, func(o *server.Options) { o.DiscardStall = time.Minute }, withTiers(t, importTiers))
		coach := s.Coach(t, coachNumber)
		coach.AddPlayer(t, touchlinetest.Minor("+919812300002", ""))
		guardian := s.SignIn(t, "guardian", "+919812300002")
		s.Clock.Skip(2 * time.Minute) // past OTP_RESEND_AFTER
		pages := pagesCookie(t, s, coachNumber)
		const (
			length     = "Content-Length: 4194354"
			urlencoded = "Content-Type: application/x-www-form-urlencoded"
			multipart  = "Content-Type: " + multiPart
			importPage = "/coach/players/import"
			sheet      = "/coach/batches/0198f2c4-7b00-7e21-a1c4-5d2f9e8b6a10/attendance/2026-11-24"
			documents  = "/api/coach/documents"
			imports    = "/api/players/import"
		)
		bearer := func(u *touchlinetest.User) string { return "Authorization: Bearer " + u.Access }
		for _, tt := range []struct {
			name, method, path string
			headers            []string
			status             int
			want               string // in the body or the Location
		}{
			{"a stranger's form", "POST", importPage, []string{urlencoded, length}, 303, "/sign-in/coach"},
			{"a stranger's form of unknown length", "POST", importPage, []string{urlencoded, "Transfer-Encoding: chunked"}, 303, "/sign-in/coach"},
			{"a stranger's file", "POST", importPage, []string{multipart, length}, 303, "/sign-in/coach"},
			{"a stranger's sheet", "POST", sheet, []string{urlencoded, "Content-Length: 1000000"}, 303, "/sign-in/coach"},
			{"a stranger's picture", "POST", "/coach/profile/picture", []string{multipart, length}, 303, "/sign-in/coach"},
			{"a long form of a stranger", "POST", "/sign-in/coach", []string{urlencoded, "Content-Length: 65537"}, 413, "too long"},
			{"a form without the feature", "POST", importPage, []string{pages, urlencoded, length}, 403, "Your plan has no import"},
			{"a file without the feature", "POST", importPage, []string{pages, multipart, length}, 403, "Your plan has no import"},
			{"a file of unknown length without the feature", "POST", importPage, []string{pages, multipart, "Transfer-Encoding: chunked"}, 403, "Your plan has no import"},
			{"a sheet that is too long", "POST", sheet, []string{pages, urlencoded, length}, 413, "too long"},
			{"a cell file without a token", "POST", imports, []string{csvType, length}, 401, "token_missing"},
			{"a cell file of a guardian", "POST", imports, []string{csvType, length, bearer(guardian)}, 403, "role_not_allowed"},
			{"a cell file that is too large", "POST", imports, []string{csvType, length, bearer(coach)}, 413, "payload_too_large"},
			{"a cell file without the feature", "POST", imports, []string{csvType, "Content-Length: 4194304", bearer(coach)}, 403, "tier_limit"},
			{"a document without a token", "POST", documents, []string{multipart, length}, 401, "token_missing"},
			{"a document of a guardian", "POST", documents, []string{multipart, length, bearer(guardian)}, 403, "role_not_allowed"},
			{"a bounce with a wrong secret", "POST", "/bounces/wrong", []string{"Content-Length: 65537"}, 401, "token_invalid"},
			{"receipts of a provider that is not configured", "POST", "/receipts/whatsapp", []string{"Content-Length: 3000000"}, 404, "not_found"},
			{"a reply of a provider that is not configured", "POST", "/replies/twilio", []string{"Content-Length: 65537"}, 404, "not_found"},
			{"JSON without a token", "POST", "/api/players/add", []string{"Content-Type: application/json", "Content-Length: 200000"}, 401, "token_missing"},
		} {
			resp := answerToHeaders(t, s, tt.method, tt.path, tt.headers...)
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != tt.status || !strings.Contains(string(body)+resp.Header.Get("Location"), tt.want) {
				t.Errorf("%s: got %d %v %.300s, want %d with %q", tt.name, resp.StatusCode, resp.Header, body, tt.status, tt.want)
			}
		}
	})
}

// pagesCookie signs a coach in to the pages and returns the header with the session.
func pagesCookie(t *testing.T, s *touchlinetest.Service, number string) string {
	t.Helper()
	b, sent := s.Browser(t), s.Sent(number, "otp")
	b.Send("POST", "/sign-in/coach", map[string][]string{"number": {number}, "remember": {"yes"}})
	b.Send("POST", "/sign-in/code", map[string][]string{"code": {s.OTP(number, sent)}})
	session := b.Cookie("touchline-coach")
	if session == "" {
		t.Fatalf("no session after the sign-in: %d %s", b.Page.Status, b.Page.Text())
	}
	return "Cookie: touchline-coach=" + session
}
