package e2e_test

import (
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

const bounceSecret = "k3mXvE9qTz7RwL2p"

// mailBy makes a service send mail through a server.
func mailBy(server *mailtest.Server) touchlinetest.Option {
	return func(c *config.Config) {
		c.Mail, c.AccessTokenLifetime = config.SecretURL(server.Setting("hello@touchline.example")+"&bounce_secret="+bounceSecret), 24*time.Hour
	}
}

// eachMail runs test on both engines, each with a mail server.
func eachMail(t *testing.T, mode mailtest.Mode, test func(t *testing.T, s *touchlinetest.Service, server *mailtest.Server)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database string) {
		server := mailtest.New(t, mode)
		test(t, touchlinetest.New(t, database, mailBy(server)), server)
	})
}

// withMail is child for a guardian with an e-mail address.
func withMail(n int, guardian, address string) map[string]any {
	body := child(n, guardian)
	body["guardian"].(map[string]any)["email"] = address
	return body
}

// awaitMail waits until the newest mail of a request has a state and reason.
func awaitMail(t *testing.T, coach *touchlinetest.User, requestID, state, reason string) {
	t.Helper()
	eventually(t, "the mail is "+state+" "+reason, func() bool {
		deliveries := getRequest(t, coach, requestID).JSON["deliveries"].([]any)
		for _, d := range slices.Backward(deliveries) {
			if d := d.(map[string]any); d["channel"] == "email" {
				got, _ := d["reason"].(string)
				return d["state"] == state && got == reason
			}
		}
		return false
	})
}

// pathOf returns the path of a URL of the service.
func pathOf(s *touchlinetest.Service, address string) string {
	return strings.TrimPrefix(address, s.Config.PublicURL)
}

// TestMail: a guardian with an address gets the request by mail too, in the chosen language,
// over STARTTLS. Opening the link decides nothing. "This isn’t me" on its page stops mail to the
// address; the request stays open.
func TestMail(t *testing.T) {
	const address = "Meera@families.example"
	eachMail(t, mailtest.STARTTLS, func(t *testing.T, s *touchlinetest.Service, server *mailtest.Server) {
		coach := s.Coach(t, coachNumber)
		body := withMail(0, guardianNumber, address)
		body["guardian"].(map[string]any)["language"] = "hi"
		player := coach.AddPlayer(t, body)
		playerID, request := player.String("player_id"), player.String("guardian_request_id")
		question := server.Wait(t, address, 0)
		awaitMail(t, coach, request, "sent", "")
		if !question.TLS || question.Subject != "कोच Meera Nair का आपके लिए एक सवाल है" || !strings.Contains(question.Text, "Asha Rao 0") {
			t.Errorf("TLS %t, subject %q:\n%s", question.TLS, question.Subject, question.Text)
		}
		if got := strings.Join(channelsOf(getRequest(t, coach, request)), " "); got != "in_app sms email" {
			t.Errorf("the question went by %s, want in_app sms email", got)
		}

		link := pathOf(s, linkPattern.FindString(question.Text))
		b := s.Browser(t)
		codes := s.Sent(guardianNumber, "otp")
		b.Open(link)
		if b.Page.Status != http.StatusOK || !strings.Contains(b.Page.Text(), "Asha Rao 0") {
			t.Errorf("the page of the link: %d %s", b.Page.Status, b.Page.Text())
		}
		b.Press("Answer") // asks for a code that goes to the number
		s.OTP(guardianNumber, codes)
		b.Open(link)
		b.Press("This isn’t me")
		b.Press("Yes, this isn’t me")
		if !strings.Contains(b.Page.Text(), "gets no more mail") {
			t.Errorf("after the refusal: %s", b.Page.Text())
		}
		awaitMail(t, coach, request, "failed", "address_stopped")
		if got := getRequest(t, coach, request); got.String("state") != "pending" {
			t.Errorf("the request: %s", got.Body)
		}
		if n := countNotifications(t, coach, "delivery_failed"); n != 1 {
			t.Errorf("%d notifications of the failure, want 1", n)
		}
		for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
			if item["request_id"] == request && item["blocked_by"] != nil {
				t.Errorf("blocked by %v although the SMS was sent", item["blocked_by"])
			}
		}
		// Only mail may be sent again before RESEND_AFTER.
		send := map[string]any{"player_id": playerID, "channels": []string{"sms"}}
		coach.Call(t, "POST", "/api/approval/send-guardian-request", send).Want(t, 409, "request_pending")
		send["channels"] = []string{"email"}
		coach.Call(t, "POST", "/api/approval/send-guardian-request", send).Want(t, 200)
		awaitMail(t, coach, request, "failed", "address_stopped")

		s.Clock.Skip(2 * time.Minute) // past OTP_RESEND_AFTER
		guardian := s.SignIn(t, "guardian", guardianNumber)
		codes = s.Sent(guardianNumber, "otp")
		s.Clock.Skip(2 * time.Minute)
		b.Open("/sign-in/guardian")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, codes))
		const allow = "मेल फिर से चालू करें"
		if settings := b.Open("/me/guardian/settings").Text(); strings.Contains(settings, "families.example") {
			t.Errorf("the settings before an approval show the address: %s", settings)
		}
		b.Open(pathOf(s, strings.Trim(question.Header.Get("List-Unsubscribe"), "<>")))
		b.Press(allow)
		if !strings.Contains(b.Page.Text(), "मेल फिर से चालू है।") || stoppedAddresses(t, s) != 0 {
			t.Errorf("mail is allowed again: %s", b.Page.Text())
		}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": playerID, "action": "approved"}).Want(t, 200)
		if got := server.Wait(t, address, 1); got.Subject != "आपने हाँ कहा" {
			t.Errorf("the confirmation: %q\n%s", got.Subject, got.Text)
		}
		// A settings page only says that mail is stopped: an account can name any address.
		b.Open(pathOf(s, strings.Trim(question.Header.Get("List-Unsubscribe"), "<>")))
		b.Send("POST", b.Page.Path, url.Values{})
		if settings := b.Open("/me/guardian/settings").Text(); !strings.Contains(settings, "meera@families.example") || strings.Contains(settings, allow) {
			t.Errorf("the settings after the approval: %s", settings)
		}
	})
}

func channelsOf(request *touchlinetest.Response) (channels []string) {
	for _, d := range request.JSON["deliveries"].([]any) {
		channels = append(channels, d.(map[string]any)["channel"].(string))
	}
	return channels
}

// TestUnsubscribe: one POST to the URL in List-Unsubscribe ends mail to an address, except
// notices about account security. A forged URL changes nothing. Coaches get digests and
// security notices by mail.
func TestUnsubscribe(t *testing.T) {
	const address = "coach@club.example"
	eachMail(t, mailtest.ImplicitTLS, func(t *testing.T, s *touchlinetest.Service, server *mailtest.Server) {
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"email": address}).Want(t, 200)
		coach.AddPlayer(t, child(0, guardianNumber))
		s.Clock.Advance(72*time.Hour + time.Minute)
		digest := server.Wait(t, address, 0)
		if digest.Subject != "Waiting for an answer" || digest.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
			t.Errorf("the digest: %q, %v", digest.Subject, digest.Header)
		}
		stop := pathOf(s, strings.Trim(digest.Header.Get("List-Unsubscribe"), "<>"))
		oneClick := func(path string) int {
			// Web mail and add-ons send it from their own origin.
			req, err := http.NewRequest("POST", s.Config.PublicURL+path, strings.NewReader("List-Unsubscribe=One-Click"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if !strings.HasSuffix(path, "/allow") {
				req.Header.Set("Origin", "https://mail.example")
				req.Header.Set("Sec-Fetch-Site", "cross-site")
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return resp.StatusCode
		}
		forged := stop[:len(stop)-6] + strings.Repeat("A", 6)
		for _, path := range []string{forged, forged + "/allow", "/unsubscribe/x", "/unsubscribe/" + strings.Repeat("A", 80)} {
			if status := oneClick(path); status != http.StatusNotFound {
				t.Errorf("%s: status %d, want 404", path, status)
			}
		}
		if got := stoppedAddresses(t, s); got != 0 {
			t.Errorf("%d addresses are stopped after forged calls", got)
		}
		if page := s.Browser(t).Open(stop); page.Status != http.StatusOK || !strings.Contains(page.Text(), "c•••@club.example") || stoppedAddresses(t, s) != 0 {
			t.Errorf("the page: %d %s", page.Status, page.Text())
		}
		for range 2 {
			if status := oneClick(stop); status != http.StatusOK {
				t.Errorf("status %d, want 200", status)
			}
		}

		// A refresh token that is used again long after its successor ends the session.
		coach = s.SignIn(t, "coach", coachNumber)
		old := coach.Refresh
		renewed := s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": old}).Want(t, 200)
		s.Call(t, "GET", "/api/me", renewed.String("access_token"), nil).Want(t, 200)
		s.Clock.Skip(time.Hour)
		s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": old}).Want(t, 401, "refresh_token_reused")
		notice := server.Wait(t, address, 1)
		if notice.Subject != "You were signed out for safety" || notice.Header.Get("List-Unsubscribe") != "" {
			t.Errorf("the notice: %q, %v", notice.Subject, notice.Header)
		}
		s.Clock.Advance(72*time.Hour + time.Minute)
		never(t, s, "a digest went to a stopped address", quietPeriod, func() bool { return len(server.To(address)) > 2 })
	})
}

// TestBounces: a forged report is 401 and changes nothing. A report of a permanent failure notifies
// the coach, who corrects the address and sends the request again at once.
func TestBounces(t *testing.T) {
	const address, corrected = "mera@families.example", "meera@families.example"
	eachMail(t, mailtest.Plain, func(t *testing.T, s *touchlinetest.Service, server *mailtest.Server) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, withMail(0, guardianNumber, address))
		request := player.String("guardian_request_id")
		question := server.Wait(t, address, 0)
		awaitMail(t, coach, request, "sent", "")
		body := map[string]any{"message_id": question.Header.Get("Message-Id"), "type": "permanent", "status": "5.1.1"}
		s.Call(t, "POST", "/bounces/forged", "", body).Want(t, 401, "token_invalid")
		s.Call(t, "POST", "/bounces/"+bounceSecret, "", map[string]any{"message_id": "x", "type": "hard"}).Want(t, 422, "validation_failed")
		for _, id := range []string{"<unknown@x>", "a\x00b", "\u202e"} {
			s.Call(t, "POST", "/bounces/"+bounceSecret, "", map[string]any{"message_id": id, "type": "permanent"}).Want(t, 204)
		}
		awaitMail(t, coach, request, "sent", "")
		for range 2 {
			s.Call(t, "POST", "/bounces/"+bounceSecret, "", body).Want(t, 204)
		}
		awaitMail(t, coach, request, "failed", "refused")
		if n := countNotifications(t, coach, "delivery_failed"); n != 1 {
			t.Errorf("%d notifications of the failure, want 1", n)
		}
		old := pathOf(s, linkPattern.FindString(question.Text))
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{
			"player_id": player.String("player_id"), "guardian": map[string]any{"email": corrected}, "channels": []string{"email"},
		}).Want(t, 200)
		again := server.Wait(t, corrected, 0)
		if page := s.Browser(t).Open(old); page.Status != http.StatusNotFound {
			t.Errorf("the link to the former address: status %d, want 404", page.Status)
		}

		// A delivery status notification (RFC 3464) with a temporary failure.
		content, err := os.ReadFile("../internal/message/mail/testdata/bounce.eml")
		if err != nil {
			t.Fatal(err)
		}
		notification := strings.NewReplacer("Status: 5.1.1", "Status: 4.2.2", "<0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21@touchline.example>", again.Header.Get("Message-Id")).Replace(string(content))
		resp, err := http.Post(s.Config.PublicURL+"/bounces/"+bounceSecret, "message/rfc822", strings.NewReader(notification))
		if err != nil || resp.StatusCode != http.StatusNoContent {
			t.Fatalf("the notification: %v, %v", resp, err)
		}
		_ = resp.Body.Close()
		awaitMail(t, coach, request, "failed", "unreachable")

		// A server that takes the mail and drops the connection gets it again under one id; one
		// that refuses the address for good is not tried again.
		server.Behave(mailtest.Behaviour{Drop: true})
		coach.AddPlayer(t, withMail(1, otherNumber, "drop@families.example"))
		first := server.Wait(t, "drop@families.example", 0)
		server.Behave(mailtest.Behaviour{})
		s.Clock.Advance(5 * time.Second)
		if second := server.Wait(t, "drop@families.example", 1); second.Header.Get("Message-Id") != first.Header.Get("Message-Id") {
			t.Errorf("Message-ID %s, then %s", first.Header.Get("Message-Id"), second.Header.Get("Message-Id"))
		}
		server.Behave(mailtest.Behaviour{Recipient: &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}})
		refused := coach.AddPlayer(t, withMail(2, otherNumber, "gone@families.example")).String("guardian_request_id")
		awaitMail(t, coach, refused, "failed", "refused")
		if strings.Contains(s.Log.String(), "families.example") {
			t.Error("the log has an address")
		}
		coach.Call(t, "POST", "/api/approval/send-student-request", map[string]any{"player_id": player.String("player_id"), "student": map[string]any{"contact_number": otherNumber}, "channels": []string{"email"}}).
			Want(t, 422, "validation_failed")
	})
}

// stoppedAddresses counts the addresses that get no mail.
func stoppedAddresses(t *testing.T, s *touchlinetest.Service) int {
	t.Helper()
	return queryOne[int](t, openTables(t, s), `SELECT count(*) FROM stopped_addresses`)
}
