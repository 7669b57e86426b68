package e2e_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// byTwilio makes a service send through Twilio, and through other providers after it.
func byTwilio(twilio *smstest.Twilio, others ...string) touchlinetest.Option {
	return func(c *config.Config) {
		c.SMS = config.SecretURL(strings.Join(append([]string{twilio.Spec()}, others...), ","))
	}
}

// TestTwilio: an OTP and requests leave through Twilio, and its signed calls report their
// state. Forged calls are 401 and change nothing. While Twilio responds 503, another gateway sends.
func TestTwilio(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		twilio, gateway := smstest.NewTwilio(t), smstest.New(t)
		s := touchlinetest.New(t, database, byTwilio(twilio, gateway.Spec()))
		coach := registerCoach(t, s, func() (texts []string) {
			for _, m := range twilio.Messages() {
				texts = append(texts, m.Get("Body"))
			}
			return texts
		})
		ask := func(n int, number string) (request string, message int) {
			t.Helper()
			request = coach.AddPlayer(t, child(n, number)).String("guardian_request_id")
			eventually(t, "Twilio gets the message", func() bool {
				sent := twilio.Messages()
				message = len(sent) - 1
				return sent[message].Get("To") == number
			})
			awaitSMS(t, coach, request, "sent", "")
			return request, message
		}
		callback := func(message int, status string, code int, token string, want int) {
			t.Helper()
			if res := twilio.Callback(t, message, status, code, token); res.StatusCode != want {
				t.Errorf("%s %d: %s, want %d", status, code, res.Status, want)
			}
		}

		alive, message := ask(1, guardianNumber)
		callback(message, "failed", 30005, "another token", 401)
		callback(message, "sent", 0, twilio.Token, 204)
		awaitSMS(t, coach, alive, "sent", "")
		callback(message, "delivered", 0, twilio.Token, 204)
		awaitSMS(t, coach, alive, "delivered", "")

		reply := func(text, token string, want int) {
			t.Helper()
			res := twilio.Post(t, s.Config.PublicURL+"/replies/twilio", url.Values{"From": {guardianNumber}, "To": {twilio.Sender}, "Body": {text}}, token)
			if res.StatusCode != want {
				t.Errorf("reply %s: %s, want %d", text, res.Status, want)
			}
		}
		reply("STOP", "another token", 401)
		reply("Who is this?", twilio.Token, 200)
		awaitBlocked(t, coach, alive, nil)
		reply("STOP", twilio.Token, 200)
		awaitBlocked(t, coach, alive, "stopped")
		reply("start", twilio.Token, 200)
		awaitBlocked(t, coach, alive, nil)

		off, message := ask(2, otherNumber)
		callback(message, "undelivered", 30003, twilio.Token, 204)
		awaitSMS(t, coach, off, "failed", "unreachable")
		if got := smsDetail(getRequest(t, coach, off)); !strings.Contains(got, "off or without network for less than an hour") {
			t.Errorf("detail = %q, want how long the phone was off", got)
		}

		const dead = "+919812300077"
		twilio.Refuse(dead, 21211)
		request := coach.AddPlayer(t, child(3, dead)).String("guardian_request_id")
		awaitSMS(t, coach, request, "failed", "refused")
		if got := smsDetail(getRequest(t, coach, request)); !strings.Contains(got, "does not exist") {
			t.Errorf("detail = %q, want that the number does not exist", got)
		}
		if n := gateway.Attempts(); n != 0 {
			t.Errorf("the second provider got %d messages, want none", n)
		}

		twilio.SetUnavailable(true)
		request = coach.AddPlayer(t, child(4, "+919812300078")).String("guardian_request_id")
		awaitSMS(t, coach, request, "sent", "")
		if got := gateway.Accepted(); len(got) != 1 || got[0].To != "+919812300078" {
			t.Errorf("the second provider sent %+v, want the message", got)
		}
		if res := twilio.Post(t, s.Config.PublicURL+"/receipts/msg91", nil, twilio.Token); res.StatusCode != 404 {
			t.Errorf("a call of a provider that is not configured: %s, want 404", res.Status)
		}
	})
}

// TestMSG91: messages leave as registered templates, and reports of each version of the webhook
// give their state.
func TestMSG91(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		msg91 := smstest.NewMSG91(t)
		msg91.Templates["1"] = "##code## is your Touchline code. It works for ##validity##. Never share it. Touchline will never ask for it."
		msg91.Templates["2"] = "##coach## added ##student## to ##batch##. May Touchline send you news? Yes, no or not my child: code ##short_code## or ##link##"
		s := touchlinetest.New(t, database, func(c *config.Config) {
			c.SMS = config.SecretURL(msg91.Spec())
			c.MSG91Templates = []config.SMSTemplate{{Key: "otp_coach.en", ProviderID: "1", RegistryID: "12071"}, {Key: "request_guardian.en", ProviderID: "2", RegistryID: "12072"}}
		})
		coach := registerCoach(t, s, func() (texts []string) {
			for _, m := range msg91.Messages() {
				texts = append(texts, m.Text)
			}
			return texts
		})
		report := func(version int, crqid, status, desc string, want int) {
			t.Helper()
			if res := msg91.Report(t, s.Config.PublicURL+"/receipts/msg91", version, crqid, status, desc); res.StatusCode != want {
				t.Errorf("version %d, %s %s: %s, want %d", version, status, desc, res.Status, want)
			}
		}
		for i, tt := range []struct {
			version              int
			status, desc         string
			state, reason, words string
		}{
			{2, "1", "DELIVERED", "delivered", "", ""},
			{3, "2", "INVALID-SUB", "failed", "refused", "does not exist"},
			{2, "16", "TEMPLATE-NOT-MATCHED", "failed", "unreachable", "did not take our text"},
		} {
			number := guardianNumber[:len(guardianNumber)-1] + string(rune('1'+i))
			request := coach.AddPlayer(t, child(i, number)).String("guardian_request_id")
			awaitSMS(t, coach, request, "sent", "")
			sent := msg91.Messages()
			m := sent[slices.IndexFunc(sent, func(m smstest.MSG91Message) bool { return m.To == number })]
			if m.RegistryID != "12072" || !strings.Contains(m.Text, "/a/") {
				t.Errorf("sent %+v, want the template 12072 with a link", m)
			}
			forged := m.CRQID[:len(m.CRQID)-1] + "!"
			for _, crqid := range []string{forged, "0", ""} {
				report(tt.version, crqid, "2", "FAILED", 401)
			}
			awaitSMS(t, coach, request, "sent", "")
			for range 2 {
				report(tt.version, m.CRQID, tt.status, tt.desc, 204)
			}
			awaitSMS(t, coach, request, tt.state, tt.reason)
			if got := smsDetail(getRequest(t, coach, request)); !strings.Contains(got, tt.words) {
				t.Errorf("detail = %q, want %q in it", got, tt.words)
			}
		}
	})
}
