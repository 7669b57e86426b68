package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestDocuments covers upload, list, content, rename, replacement and deletion of
// a certificate.
func TestDocuments(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		pdf := touchlinetest.PDF(5000, 1)
		d := c.Upload(t, "certification", "First aid.pdf", pdf, "issuer", "Red Cross", "issued_on", "2025-01-01", "expires_on", "2030-01-01").Want(t, 201)
		if d.String("title") != "First aid" || d.String("media_type") != "application/pdf" || d.String("size") != "5000" || d.String("in_profile") != "true" {
			t.Errorf("upload: got %s", d.Body)
		}
		url := "/api/coach/documents/" + d.String("document_id")
		if d.Header.Get("Location") != url || d.String("content_url") != url+"/content" {
			t.Errorf("got location %s, content URL %s", d.Header.Get("Location"), d.String("content_url"))
		}
		if items := c.Call(t, "GET", "/api/coach/documents", nil).Want(t, 200).Items(); len(items) != 1 {
			t.Errorf("list: got %v", items)
		}
		got := c.Call(t, "GET", url+"/content", nil).Want(t, 200)
		if string(got.Body) != string(pdf) || got.Header.Get("Content-Disposition") != `attachment; filename="First aid.pdf"` {
			t.Errorf("content: got headers %v", got.Header)
		}
		etag := got.Header.Get("ETag")
		c.Call(t, "GET", url+"/content", nil, "If-None-Match: "+etag).Want(t, 304)
		if part := c.Call(t, "GET", url+"/content", nil, "Range: bytes=0-4").Want(t, 206); string(part.Body) != "%PDF-" {
			t.Errorf("range: got %q", part.Body)
		}
		for _, tt := range []struct {
			ranges string
			status int
			which  string // want Content-Range
		}{
			{"bytes=9000-", 416, "bytes */5000"},
			{"bytes=5000-", 416, "bytes */5000"},
			{"bytes=-0", 416, "bytes */5000"},
			{"bytes=99999999999999999999-", 416, "bytes */5000"},
			{"bytes=4999-", 206, "bytes 4999-4999/5000"},
			{"bytes=0004990-99999999999999999999", 206, "bytes 4990-4999/5000"},
			{"bytes=-10", 206, "bytes 4990-4999/5000"},
			{"bytes=-99999", 206, "bytes 0-4999/5000"},
			{"Bytes=0-1", 206, "bytes 0-1/5000"},
			// Invalid ranges and unknown units are ignored.
			{"lines=0-1", 200, ""},
			{"bytes=5-1", 200, ""},
			{"bytes=a-b", 200, ""},
			{"bytes=+1-2", 200, ""},
			{"bytes=-", 200, ""},
			{"bytes", 200, ""},
			{"bytes=0-1,5-9", 200, ""},
		} {
			part := c.Call(t, "GET", url+"/content", nil, "Range: "+tt.ranges).Want(t, tt.status)
			if got := part.Header.Get("Content-Range"); got != tt.which {
				t.Errorf("range %s: got %q, want %q", tt.ranges, got, tt.which)
			}
			if tt.status == 416 {
				part.Want(t, 416, "range_not_satisfiable")
			}
		}
		stale := c.Call(t, "GET", url+"/content", nil, `If-Match: "another"`).Want(t, 412, "precondition_failed")
		if stale.Header.Get("ETag") != etag {
			t.Errorf("If-Match: got ETag %q, want %q", stale.Header.Get("ETag"), etag)
		}
		c.Call(t, "GET", url+"/content?size=small", nil).Want(t, 422)
		s.Call(t, "GET", url+"/content", "", nil).Want(t, 401, "token_missing")
		other := s.Coach(t, "+919812300002")
		other.Call(t, "GET", url+"/content", nil).Want(t, 404)
		other.Call(t, "GET", url, nil).Want(t, 404)
		other.Call(t, "PATCH", url, map[string]any{"title": ""}).Want(t, 404)
		other.Call(t, "DELETE", url, nil).Want(t, 404)

		renamed := c.Call(t, "PATCH", url, map[string]any{"title": "Erste Hilfe", "issuer": nil}).Want(t, 200)
		if renamed.String("title") != "Erste Hilfe" || renamed.JSON["issuer"] != nil {
			t.Errorf("rename: got %s", renamed.Body)
		}
		c.Call(t, "PATCH", url, map[string]any{"expires_on": "2024-12-31"}).Want(t, 422)

		body, header := touchlinetest.Form(nil, "neu.pdf", touchlinetest.PDF(7000, 2))
		replaced := c.Call(t, "PUT", url+"/content", body, header).Want(t, 200)
		if replaced.String("size") != "7000" || replaced.String("title") != "Erste Hilfe" || replaced.String("file_name") != "neu.pdf" || replaced.String("kyc_state") != "disabled" {
			t.Errorf("replacement: got %s", replaced.Body)
		}
		if next := c.Call(t, "GET", url+"/content", nil).Want(t, 200); len(next.Body) != 7000 || next.Header.Get("ETag") == etag {
			t.Errorf("new content: got %d bytes, ETag %s", len(next.Body), next.Header.Get("ETag"))
		}
		profile := c.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200)
		if list, _ := profile.JSON["certifications"].([]any); len(list) != 1 {
			t.Errorf("profile: got %s", profile.Body)
		}
		c.Call(t, "PATCH", "/api/coach/profile", map[string]any{"certifications": []string{}}).Want(t, 200)
		if d := c.Call(t, "GET", url, nil).Want(t, 200); d.String("in_profile") != "false" {
			t.Errorf("removed from the profile: got %s", d.Body)
		}
		c.Call(t, "PATCH", "/api/coach/profile", map[string]any{"certifications": []string{d.String("document_id")}}).Want(t, 200)
		c.Call(t, "DELETE", url, nil).Want(t, 200)
		c.Call(t, "GET", url, nil).Want(t, 404)
		if n := queryOne[int64](t, openTables(t, s), `SELECT stored_bytes FROM coaches WHERE id = $1`, c.ID); n != 0 {
			t.Errorf("got %d bytes of storage used after the deletion", n)
		}
	})
}

// TestRequiredDocuments: documents can be required for a complete profile, and a
// deletion reports that the profile becomes incomplete.
func TestRequiredDocuments(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.SignIn(t, "coach", "+919812300001")
		about := map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}
		c.Call(t, "POST", "/auth/complete-profile", about).Want(t, 422)
		d := c.Upload(t, "qualification", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201)
		about["certifications"] = []string{strings.Replace(d.String("document_id"), "-7", "-4", 1)}
		c.Call(t, "POST", "/auth/complete-profile", about).Want(t, 422)
		about["certifications"] = []string{d.String("document_id")}
		if p := c.Call(t, "POST", "/auth/complete-profile", about).Want(t, 200); p.String("profile_complete") != "true" {
			t.Errorf("complete profile: got %s", p.Body)
		}
		c.AddPlayer(t, touchlinetest.Minor("+919812300011", ""))
		deleted := c.Call(t, "DELETE", "/api/coach/documents/"+d.String("document_id"), nil).Want(t, 200)
		if string(deleted.Body) != `{"profile_complete":false,"missing":["certifications"],"kyc_state":"disabled"}` {
			t.Errorf("deletion: got %s", deleted.Body)
		}
		c.Call(t, "POST", "/api/players/add", child(2, "+919812300011")).Want(t, 403, "profile_incomplete")
		if me := c.Call(t, "GET", "/api/me", nil).Want(t, 200); me.String("next") != "complete_profile" {
			t.Errorf("/api/me: got %s", me.Body)
		}
		if again := s.SignIn(t, "coach", "+919812300001"); again.Login.String("profile_complete") != "false" {
			t.Errorf("sign-in: got %s", again.Login.Body)
		}
	}, func(c *config.Config) { c.ProfileRequired = []string{"name", "certifications"}; c.OTPResendAfter = 0 })
}

// TestProfileReportsEveryFault: invalid documents are reported together with all
// other invalid fields.
func TestProfileReportsEveryFault(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.SignIn(t, "coach", "+919812300001")
		absent := c.ID // an id that no document has
		for _, tt := range []struct {
			method, path string
			body         map[string]any
			want         string
		}{
			{"POST", "/auth/complete-profile", map[string]any{}, "/name required, /certifications required, /profile_picture required"},
			{"POST", "/auth/complete-profile", map[string]any{"certifications": []string{absent}, "profile_picture": "x"}, "/profile_picture invalid_id, /name required, /certifications/0 unknown_document"},
			{"POST", "/auth/complete-profile", map[string]any{"name": "Meera Nair"}, "/certifications required, /profile_picture required"},
			{
				"PATCH", "/api/coach/profile",
				map[string]any{"email": "unknown", "certifications": []string{"x", absent}, "profile_picture": absent},
				"/email invalid_email, /certifications/0 unknown_document, /certifications/1 unknown_document, /profile_picture unknown_document",
			},
		} {
			a := c.Call(t, tt.method, tt.path, tt.body).Want(t, 422, "validation_failed")
			var got []string
			list, _ := a.JSON["errors"].([]any)
			for _, item := range list {
				field, _ := item.(map[string]any)
				got = append(got, fmt.Sprint(field["pointer"], " ", field["code"]))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("%s %v: got %v, want %s", tt.path, tt.body, got, tt.want)
			}
		}
	}, func(c *config.Config) { c.ProfileRequired = []string{"name", "certifications", "profile_picture"} })
}

// spoolFiles returns the temporary files of uploads.
func spoolFiles(t *testing.T, s *touchlinetest.Service) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(s.Config.DataDir, "uploads", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// TestTierStorageLimit: uploads beyond the tier's storage are refused with the
// usage and the tier that would allow them. A smaller replacement is always
// allowed.
func TestTierStorageLimit(t *testing.T) {
	t.Parallel()
	tiers := filepath.Join(t.TempDir(), "tiers.json")
	text := `{"tiers": [{"name": "tiny", "title": "Tiny", "limits": {"storage_bytes": 10000}}, {"name": "large", "title": "Large"}]}`
	if err := os.WriteFile(tiers, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		first := c.Upload(t, "identity", "a.pdf", touchlinetest.PDF(6000, 1)).Want(t, 201)
		refused := c.Upload(t, "identity", "b.pdf", touchlinetest.PDF(6000, 2)).Want(t, 403, "tier_limit")
		if refused.String("limit") != "storage_bytes" || refused.String("limit_value") != "10000" || refused.String("use") != "6000" || refused.String("needed_tier") != "large" {
			t.Errorf("got %s", refused.Body)
		}
		c.Upload(t, "identity", "b.pdf", touchlinetest.PDF(4000, 2)).Want(t, 201)
		put := func(n int) *touchlinetest.Response {
			body, header := touchlinetest.Form(nil, "a.pdf", touchlinetest.PDF(n, 3))
			return c.Call(t, "PUT", first.String("content_url"), body, header)
		}
		put(6001).Want(t, 403, "tier_limit")
		put(5999).Want(t, 200)
		if left := spoolFiles(t, s); len(left) > 0 {
			t.Errorf("temporary files left: %v", left)
		}
	}, func(c *config.Config) { c.Tiers = tiers })
}

// TestUploadsOfOneCoach: one coach has a limit of concurrent uploads; other
// coaches have their own.
func TestUploadsOfOneCoach(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		c, other := s.Coach(t, "+919812300001"), s.Coach(t, "+919812300002")
		var refused atomic.Int64
		for range 40 {
			conn := startUpload(t, s, c, "Content-Length: 5000")
			_, _ = io.WriteString(conn, kindPart)
			go func() {
				if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && resp.StatusCode == 429 {
					refused.Add(1)
				}
			}()
		}
		eventually(t, "16 uploads wait and the others are refused", func() bool { return refused.Load() == 40-16 })
		a := c.Upload(t, "identity", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 429, "rate_limited")
		if a.String("limit") != "uploads_at_once" || a.Header.Get("Retry-After") == "" {
			t.Errorf("refused upload: got %s", a.Body)
		}
		other.Upload(t, "identity", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201)
	}, touchlinetest.ManyConnections)
}

// TestIdentityDocuments: replacing or deleting a document of a pending submission
// withdraws the submission, and the response says so. Decided submissions stay.
func TestIdentityDocuments(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		passport := c.Upload(t, "identity", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201)
		other := c.Upload(t, "identity", "b.pdf", touchlinetest.PDF(100, 2)).Want(t, 201)
		submit := func() {
			t.Helper()
			a := c.Call(t, "POST", "/api/coach/kyc", map[string]any{"legal_name": "Meera Nair", "document_ids": []string{passport.String("document_id")}})
			if a.Status > 201 || a.String("state") != "submitted" {
				t.Fatalf("submit: got %d %s", a.Status, a.Body)
			}
		}
		replace := func(d *touchlinetest.Response) string {
			t.Helper()
			body, header := touchlinetest.Form(nil, "c.pdf", touchlinetest.PDF(200, 3))
			return c.Call(t, "PUT", d.String("content_url"), body, header).Want(t, 200).String("kyc_state")
		}
		submit()
		if got := replace(other); got != "submitted" {
			t.Errorf("replaced another document: got KYC state %s", got)
		}
		if got := replace(passport); got != "not_started" {
			t.Errorf("replaced the submitted document: got KYC state %s", got)
		}
		if got := c.Call(t, "GET", "/api/coach/kyc", nil).Want(t, 200).String("state"); got != "not_started" {
			t.Errorf("after the withdrawal: got KYC state %s", got)
		}
		submit()
		if a := c.Call(t, "DELETE", passport.Header.Get("Location"), nil).Want(t, 200); a.String("kyc_state") != "not_started" || a.String("profile_complete") != "true" {
			t.Errorf("deletion: got %s", a.Body)
		}
		if got := c.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200).String("kyc_state"); got != "not_started" {
			t.Errorf("profile: got KYC state %s", got)
		}
	}, func(c *config.Config) { c.KYC = true })
}

// TestIssuedInTheFuture: a document is not issued after the coach's current day, by POST and PATCH.
// The day differs between the time zones at both ends of the world.
func TestIssuedInTheFuture(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, "+919812300001")
		pdf := touchlinetest.PDF(2000, 1)
		ahead, err := time.LoadLocation("Pacific/Kiritimati")
		if err != nil {
			t.Fatal(err)
		}
		today, tomorrow := s.Clock.Now().In(ahead).Format(time.DateOnly), s.Clock.Now().In(ahead).AddDate(0, 0, 1).Format(time.DateOnly)
		zone := func(name string) {
			c.Call(t, "PATCH", "/api/coach/profile", object{"time_zone": name}).Want(t, 200)
		}
		refused := func(r *touchlinetest.Response) {
			t.Helper()
			if r.Want(t, 422, "validation_failed"); !strings.Contains(string(r.Body), `"/issued_on"`) || !strings.Contains(string(r.Body), "in_future") {
				t.Errorf("got %s", r.Body)
			}
		}
		zone("Pacific/Kiritimati")
		refused(c.Upload(t, "certification", "a.pdf", pdf, "issued_on", tomorrow))
		one := "/api/coach/documents/" + c.Upload(t, "certification", "a.pdf", pdf, "issued_on", today).Want(t, 201).String("document_id")
		refused(c.Call(t, "PATCH", one, object{"issued_on": tomorrow}))
		zone("Pacific/Pago_Pago")
		refused(c.Upload(t, "certification", "a.pdf", pdf, "issued_on", today))
		refused(c.Call(t, "PATCH", one, object{"issued_on": today, "expires_on": "2099-01-01"}))
		c.Call(t, "PATCH", one, object{"title": "First aid"}).Want(t, 200)
		c.Call(t, "PATCH", one, object{"issued_on": nil}).Want(t, 200)
	})
}
