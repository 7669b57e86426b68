package e2e_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// console is an operator's session on the pages of the operators' listener.
type console struct {
	t      *testing.T
	url    string
	cookie string
}

func signInToConsole(t *testing.T, s *touchlinetest.Service, token string) console {
	t.Helper()
	resp, body := sendRaw(t, "POST", s.AdminURL+"/sign-in", url.Values{"token": {token}}.Encode(), "Content-Type: application/x-www-form-urlencoded")
	if len(resp.Cookies()) != 1 {
		t.Fatalf("sign in to the console: %d %s", resp.StatusCode, body)
	}
	return console{t, s.AdminURL, "Cookie: " + resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value}
}

func (c console) get(path string) string {
	c.t.Helper()
	_, body := sendRaw(c.t, "GET", c.url+path, "", c.cookie, "Accept: text/html")
	return body
}

func (c console) post(path string, form url.Values) (body, location string) {
	c.t.Helper()
	resp, body := sendRaw(c.t, "POST", c.url+path, form.Encode(), c.cookie, "Content-Type: application/x-www-form-urlencoded")
	return body, resp.Header.Get("Location")
}

// TestOperatorsFindDeliveries: one call, one command and one page answer "the SMS never came": every
// message to a number, OTPs too, with its state, attempts and reason, and without number, text, code
// and link. The search is audited.
func TestOperatorsFindDeliveries(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		desk, auditor := s.Operator(t, operator.Deliveries), s.Operator(t, operator.Audit)
		coach := s.Coach(t, coachNumber)
		coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		s.SMS(guardianNumber, "message", 0)
		s.Gateway.Behave(smstest.Behaviour{Status: 400})
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": guardianNumber, "role": "guardian"}).Want(t, 202)
		const path = "/api/admin/deliveries/search"
		search := func(body map[string]any) *touchlinetest.Response {
			t.Helper()
			a := desk.Call(t, "POST", path, body).Want(t, 200)
			for _, private := range []string{guardianNumber[1:], "Asha", "/a/", "otp\":"} {
				if strings.Contains(string(a.Body), private) {
					t.Errorf("the list contains %q: %s", private, a.Body)
				}
			}
			return a
		}
		eventually(t, "the OTP failed", func() bool {
			items := search(map[string]any{"number": "98123 00011"}).Items()
			return len(items) == 2 && items[0]["state"] == "failed"
		})
		items := search(map[string]any{"number": guardianNumber}).Items()
		masked := phone.Number(guardianNumber).Mask()
		if d := items[0]; d["kind"] != "otp" || d["channel"] != "sms" || d["reason"] != "refused" || d["attempts"] != 1.0 || d["coach_id"] != nil || d["recipient"] != masked || d["can_retry"] != false {
			t.Errorf("OTP: got %v", d)
		}
		if d := items[1]; d["kind"] != "request" || d["state"] != "sent" || d["coach_id"] != coach.ID || d["coach_name"] != "Meera Nair" || d["recipient"] != masked {
			t.Errorf("request: got %v", d)
		}
		first := search(map[string]any{"number": guardianNumber, "limit": 1})
		second := search(map[string]any{"number": guardianNumber, "limit": 1, "cursor": first.String("next_cursor")}).Items()
		if len(second) != 1 || second[0]["delivery_id"] != items[1]["delivery_id"] {
			t.Errorf("second page: got %v", second)
		}
		if other := search(map[string]any{"number": otherNumber}).Items(); len(other) > 0 {
			t.Errorf("another number: got %v", other)
		}
		desk.Call(t, "POST", path, map[string]any{"number": "12"}).Want(t, 422, "validation_failed")
		auditor.Call(t, "POST", path, map[string]any{"number": guardianNumber}).Want(t, 403, "insufficient_scope")

		failed := desk.Call(t, "GET", "/api/admin/deliveries", nil).Want(t, 200).Items()
		if len(failed) != 1 || failed[0]["recipient"] != masked {
			t.Errorf("failed messages: got %v", failed)
		}
		overview := desk.Call(t, "GET", "/api/admin/overview", nil).Want(t, 200)
		if overview.JSON["failed_deliveries"] != 1.0 || overview.JSON["tier_requests"] != nil || overview.JSON["verifications"] != nil {
			t.Errorf("overview: got %s", overview.Body)
		}

		page := signInToConsole(t, s, desk.Token)
		if body := page.get("/"); !strings.Contains(body, `href="/deliveries"`) || !strings.Contains(body, `<b>1</b> <a href="/deliveries">`) {
			t.Errorf("the overview has no count: %s", body)
		}
		if body := page.get("/deliveries"); !strings.Contains(body, strings.Replace(masked, "+", "&#43;", 1)) || !strings.Contains(body, "no message can reach this number") {
			t.Errorf("failed messages: %s", body)
		}
		body, _ := page.post("/deliveries/search", url.Values{"number": {"98123 00011"}})
		if !strings.Contains(body, "Meera Nair") || !strings.Contains(body, "SMS · code") || !strings.Contains(body, "refused") {
			t.Errorf("messages to a number: %s", body)
		}
		if body, _ := page.post("/deliveries/search", url.Values{"number": {"12"}}); !strings.Contains(body, `aria-invalid="true"`) {
			t.Errorf("a wrong number: %s", body)
		}
		entries := 0
		for _, entry := range auditor.Call(t, "GET", "/api/admin/audit?limit=200", nil).Want(t, 200).Items() {
			if entry["action"] == "delivery.list" && entry["detail"] == "by number" {
				entries++
			}
		}
		if log := string(auditor.Call(t, "GET", "/api/admin/audit?limit=200", nil).Body); entries < 5 || strings.Contains(log, guardianNumber[3:]) {
			t.Errorf("the audit log has %d searches: %s", entries, log)
		}
		runCLI(t, s, "search in a shell", func(sh *cliContext) error {
			found, err := sh.Deliveries.DeliveriesTo(sh.ctx, sh.by, message.NumberDeliverySearch{Number: phone.Number(guardianNumber)}, 10)
			if len(found) != 2 {
				t.Errorf("shell: got %v", found)
			}
			return err
		})
	})
}

// TestTierRequestsInConsole: an operator sees who asked for a tier, with a count on the overview, and
// decides there.
func TestTierRequestsInConsole(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		desk := s.Operator(t, operator.Coaches)
		coach, other := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		for _, c := range []*touchlinetest.User{coach, other} {
			c.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "academy"}).Want(t, 202)
		}
		if got := desk.Call(t, "GET", "/api/admin/overview", nil).Want(t, 200); got.JSON["tier_requests"] != 2.0 {
			t.Errorf("overview: got %s", got.Body)
		}
		page := signInToConsole(t, s, desk.Token)
		if body := page.get("/"); !strings.Contains(body, `<b>2</b> <a href="/tier-requests">`) {
			t.Errorf("the overview has no count: %s", body)
		}
		if body := page.get("/tier-requests"); !strings.Contains(body, "Meera Nair") || !strings.Contains(body, "academy") {
			t.Errorf("got %s", body)
		}
		decide := func(id, tier, decision, reason, want string) {
			t.Helper()
			if body, to := page.post("/tier-requests/"+id, url.Values{"tier": {tier}, "decision": {decision}, "reason": {reason}}); to != "/tier-requests?done="+want {
				t.Errorf("%s: got %q %s, want %s", decision, to, body, want)
			}
		}
		decide(other.ID, "academy", "refuse", " ", "reason")
		decide(coach.ID, "pro", "approve", "", "changed") // the coach asked for another tier since
		decide(coach.ID, "academy", "approve", "", "approved")
		decide(coach.ID, "academy", "approve", "", "changed")
		decide(other.ID, "academy", "refuse", "Tell us first how many players you have.", "refused")
		if tier := coach.Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200).String("tier"); tier != "academy" {
			t.Errorf("got the tier %s", tier)
		}
		if body := page.get("/tier-requests?done=refused"); !strings.Contains(body, "No coach waits") || !strings.Contains(body, "The request is refused") {
			t.Errorf("got %s", body)
		}
	})
}
