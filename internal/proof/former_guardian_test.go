package proof_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestFormerGuardian: a guardian who had answered and whom the coach removes signs in again, reads the receipts, exports the answers
// and deletes the account; the player is 404. One who had not answered, or whose number was corrected, has no role any more.
func TestFormerGuardian(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		h := newHousehold(t, s)
		const chitraNumber = "+919812370023"
		chitraID := h.coach.Call(t, "POST", h.url+"/guardians", object{"name": "Chitra Rao", "relationship": "aunt", "mobile_number": chitraNumber}).Want(t, 201).String("guardian_id")
		chitra := s.SignIn(t, "guardian", chitraNumber)
		h.answer(h.ravi, "guardian", "approved").Want(t, 200)
		h.answer(h.anita, "guardian", "rejected").Want(t, 200)
		remove := func(id, next string) {
			h.coach.Call(t, "DELETE", h.url+"/guardians/"+id+next, nil).Want(t, 204)
		}
		roles := func(by *touchlinetest.User) string {
			return string(by.Call(t, "GET", "/api/me", nil).Want(t, 200).Body)
		}
		remove(h.anitaID, "")
		remove(chitraID, "")
		if !strings.Contains(roles(h.anita), `"roles":["guardian"]`) || !strings.Contains(roles(chitra), `"roles":[]`) {
			t.Errorf("roles: Anita %s, Chitra %s", roles(h.anita), roles(chitra))
		}
		s.Call(t, "POST", "/auth/refresh", "", object{"refresh_token": chitra.Refresh}).Want(t, 401, "refresh_token_expired")
		s.Call(t, "POST", "/auth/refresh", "", object{"refresh_token": h.anita.Refresh}).Want(t, 200)
		s.Clock.Skip(time.Hour)
		anita := s.SignIn(t, "guardian", "+919812370003")
		if list := anita.Call(t, "GET", "/api/me/players", nil).Want(t, 200).Items(); len(list) != 0 {
			t.Errorf("a removed guardian lists %v", list)
		}
		anita.Call(t, "GET", h.url, nil).Want(t, 404)
		receipts := anita.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items()
		var events []string
		for _, r := range receipts {
			events = append(events, r["event"].(string))
		}
		if got := strings.Join(events, " "); !strings.Contains(got, "rejected") {
			t.Errorf("receipts: %s", got)
		}
		anita.Call(t, "GET", "/api/me/receipts/"+receipts[0]["record_id"].(string), nil).Want(t, 200)
		export := anita.Call(t, "GET", "/api/me/export", nil).Want(t, 200)
		if text := unzipped(t, export.Body); !strings.Contains(text, "because of rejected") || strings.Contains(text, "because of approved") || strings.Contains(text, "Ravi") || strings.Contains(text, "2014-04-30") {
			t.Errorf("the export: %s", text)
		}
		// The page of a former guardian leads to the receipts.
		s.Clock.Skip(time.Hour)
		b := s.Browser(t)
		b.Open("/sign-in/guardian")
		sent := s.Sent("+919812370003", "otp")
		b.Press("Send me a code", "number", "+919812370003")
		b.Press("Continue", "code", s.OTP("+919812370003", sent))
		if b.Open("/me/guardian"); !strings.Contains(b.Page.Text(), "A coach removed you as a guardian.") {
			t.Errorf("%s: %s", b.Page.Path, b.Page.Text())
		}
		if b.Open("/me/guardian/players/" + h.player); b.Page.Status != 404 {
			t.Errorf("the page of the player: %d", b.Page.Status)
		}
		// Added again, Anita has a new question and keeps the old answers once.
		h.coach.Call(t, "POST", h.url+"/guardians", object{"name": "Anita Iyer", "relationship": "mother", "mobile_number": "+919812370003"}).Want(t, 201)
		s.Clock.Skip(time.Hour)
		anita = s.SignIn(t, "guardian", "+919812370003")
		if text := unzipped(t, anita.Call(t, "GET", "/api/me/export", nil).Want(t, 200).Body); strings.Count(text, "because of rejected") != 2 { // CSV and JSON
			t.Errorf("the export has the answer not once: %s", text)
		}
		// The number of Ravi is corrected: the role ends.
		h.coach.Call(t, "PATCH", h.url+"/guardians/"+h.raviID, object{"mobile_number": "+919812370042"}).Want(t, 200)
		if got := roles(h.ravi); !strings.Contains(got, `"roles":[]`) {
			t.Errorf("after a correction: %s", got)
		}
		anita.Call(t, "DELETE", "/api/me", nil).Want(t, 204)
		s.Clock.Skip(time.Hour)
		anita.Call(t, "GET", "/api/me", nil).Want(t, 401)
		h.audit()
	}, func(c *config.Config) { c.AccessTokenLifetime = 72 * time.Hour })
}

// unzipped returns the texts of all files of an archive.
func unzipped(t *testing.T, content []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	ok(t, err)
	var text strings.Builder
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, ".tlog-proof") {
			continue
		}
		r, err := f.Open()
		ok(t, err)
		body, err := io.ReadAll(r)
		ok(t, err)
		text.WriteString(f.Name + "\n" + string(body) + "\n")
	}
	return text.String()
}
