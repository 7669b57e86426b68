package e2e_test

import (
	"html"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/message/whatsapp/whatsapptest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

const whatsAppNumber = "+919900000077"

// newSignInChat starts a service to whose number people write for a code.
func newSignInChat(t *testing.T, database string, options ...touchlinetest.Option) chatService {
	t.Helper()
	return newChatWith(t, database, []string{"chat"}, append(options, func(c *config.Config) {
		c.WhatsAppAccount.Number = whatsAppNumber
	})...)
}

// ask asks for a code by WhatsApp and returns the text that the person shall send.
func (s chatService) ask(t *testing.T, number, role string, headers ...string) *touchlinetest.Response {
	t.Helper()
	return s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": number, "role": role, "channel": "whatsapp_inbound"}, headers...).Want(t, 202)
}

// codeIn returns the code in an answer.
func codeIn(t *testing.T, m whatsapptest.Sent) string {
	t.Helper()
	code, _, _ := strings.Cut(m.Text, " ")
	if len(code) != 6 || strings.Trim(code, "0123456789") != "" {
		t.Fatalf("%q begins with no code", m.Text)
	}
	return code
}

// TestSignInByChat: a person writes by WhatsApp and gets the code of the open challenge as the answer. No SMS
// leaves, and no limit on SMS counts.
func TestSignInByChat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database string) {
		s := newSignInChat(t, database, func(c *config.Config) { c.OTPSendsPerHour, c.OTPSendsPerAddressHour = 1, 1 })
		phone := "Mozilla/5.0 (Linux; Android 14; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Mobile Safari/537.36"
		for range 3 { // no wait and no limit
			got := s.ask(t, coachNumber, "coach", "User-Agent: "+phone)
			want := "https://wa.me/" + whatsAppNumber[1:] + "?text=Sign%20in%20to%20Touchline"
			if got.String("send_to") != whatsAppNumber || got.String("text") != "Sign in to Touchline" || got.String("url") != want {
				t.Fatalf("got %s", got.Body)
			}
		}
		s.Clock.Advance(2 * time.Minute)
		repeat := s.inbound(t, coachNumber, says("Sign in to Touchline"))
		answer := s.last(t, 1)
		code := codeIn(t, answer)
		if want := code + " is your code for Touchline.\n\nChrome, Android asked for it 2 min ago. Enter it there. Do not tell it to anyone. If you did not ask, do nothing."; answer.To != coachNumber || answer.Text != want {
			t.Errorf("to %s: %q, want %q", answer.To, answer.Text, want)
		}
		repeat()
		s.last(t, 1)

		// Neither of these is a request for a code, and a forged call is refused.
		s.inbound(t, coachNumber, object{"type": "reaction", "reaction": object{"message_id": answer.ID, "emoji": "👍"}})
		s.inbound(t, coachNumber, object{"type": "image", "image": object{"caption": "Sign in to Touchline"}})
		s.inbound(t, coachNumber, object{"type": "edit", "edit": object{"message": object{"type": "text", "text": object{"body": "Sign in to Touchline"}}}})
		forged := object{"messages": []any{object{"from": coachNumber[1:], "id": "forged", "type": "text", "text": object{"body": "Sign in to Touchline"}}}}
		if res := s.cloud.Post(t, s.Config.PublicURL+"/receipts/whatsapp", forged, "another secret"); res.StatusCode == 200 {
			t.Error("a forged call was accepted")
		}
		s.last(t, 1)

		// The rules of the code stay: a wrong one counts.
		wrong := "000000"
		if code == wrong {
			wrong = "111111"
		}
		login := object{"mobile_number": coachNumber, "otp": wrong, "channel": "whatsapp_inbound"}
		if left := s.Call(t, "POST", "/auth/login", "", login).Want(t, 422).JSON["attempts_left"]; left != float64(4) {
			t.Errorf("%v attempts left", left)
		}
		login["otp"] = code
		s.Call(t, "POST", "/auth/login", "", login).Want(t, 200)
		s.Call(t, "POST", "/auth/login", "", login).Want(t, 410)
		if n := s.Sent(coachNumber, "otp"); n != 0 {
			t.Errorf("%d SMS left", n)
		}

		// Without an open challenge the answer is the sign-in.
		s.inbound(t, coachNumber, says("hello"))
		if m := s.last(t, 2); !strings.HasSuffix(m.Text, "Sign in here: "+s.Config.PublicURL+"/sign-in/coach") {
			t.Errorf("without a challenge: %q", m.Text)
		}
		// The code of an SMS can be asked for, too: the SMS may be late.
		s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber}).Want(t, 202)
		s.inbound(t, coachNumber, says(" sign in, to TOUCHLINE!"))
		if m := s.last(t, 3); codeIn(t, m) != s.OTP(coachNumber, 0) {
			t.Errorf("the answer %q has another code than the SMS", m.Text)
		}
		// A message from before the challenge, and five answers an hour.
		s.Clock.Advance(3 * time.Minute)
		s.Call(t, "POST", "/auth/login", "", object{"mobile_number": coachNumber, "otp": s.OTP(coachNumber, 0)}).Want(t, 200)
		sent := s.Clock.Now().Unix()
		s.Clock.Advance(3 * time.Minute)
		s.ask(t, coachNumber, "coach")
		late := says("Sign in to Touchline")
		late["timestamp"] = sent
		s.inbound(t, coachNumber, late)
		if m := s.last(t, 4); !strings.Contains(m.Text, "/sign-in/coach") {
			t.Errorf("a message from before: %q", m.Text)
		}
		s.inbound(t, coachNumber, says("Login"))
		s.last(t, 5)
		s.inbound(t, coachNumber, says("Login"))
		s.last(t, 5)
	})
}

// TestSignInByChatOfFamily: what a family writes to its coach is no request for a code, in Hindi neither. Two calls
// with one message at once answer once.
func TestSignInByChatOfFamily(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database string) {
		s := newSignInChat(t, database)
		coach := s.Coach(t, coachNumber)
		asha := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": guardianNumber, "role": "guardian", "channel": "whatsapp_inbound"}, "Accept-Language: hi").Want(t, 202)
		s.inbound(t, guardianNumber, says("Asha is ill today."))
		got := coach.Call(t, "GET", "/api/conversations/"+asha+"/guardian", nil).Want(t, 200)
		if !strings.Contains(string(got.Body), "Asha is ill today.") || len(s.cloud.Messages()) != 0 {
			t.Errorf("the conversation is %s, with %d answers", got.Body, len(s.cloud.Messages()))
		}
		repeat := s.inbound(t, guardianNumber, says("Touchline में साइन इन करें"))
		var both sync.WaitGroup
		for range 4 {
			both.Go(repeat)
		}
		both.Wait()
		if m := s.last(t, 1); !strings.Contains(m.Text, "आपका Touchline का कोड है") {
			t.Errorf("in Hindi: %q", m.Text)
		}
		// A number that does not hold the role gets the page of the sign-in.
		s.ask(t, "+919812388888", "guardian")
		s.inbound(t, "+919812388888", says("Sign in to Touchline"))
		if m := s.last(t, 2); m.To != "+919812388888" || strings.Contains(m.Text, "is your code") {
			t.Errorf("to %s: %q", m.To, m.Text)
		}
		// WhatsApp is away: the repeated call answers.
		s.cloud.SetUnavailable(true)
		_ = s.cloud.Post(t, s.Config.PublicURL+"/receipts/whatsapp", object{"messages": []any{object{"from": guardianNumber[1:], "id": "again", "type": "text", "text": object{"body": "code"}}}}, s.cloud.AppSecret)
		s.cloud.SetUnavailable(false)
		s.inbound(t, guardianNumber, object{"id": "again", "type": "text", "text": object{"body": "code"}, "timestamp": ""})
		s.last(t, 3)
	})
}

// TestSignInByChatWithoutNumber: a service that does not know its number by WhatsApp offers no sign-in by it.
func TestSignInByChatWithoutNumber(t *testing.T) {
	t.Parallel()
	s := newChat(t, storetest.SQLite(t), "chat")
	got := s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber, "channel": "whatsapp_inbound"}).Want(t, 422)
	if !strings.Contains(string(got.Body), "not_available") {
		t.Errorf("got %s", got.Body)
	}
}

// TestCodeByChat: a caller that asks for it gets the code by WhatsApp, also where OTPs leave by SMS. A service without
// WhatsApp refuses the channel.
func TestCodeByChat(t *testing.T) {
	t.Parallel()
	s := newChat(t, storetest.SQLite(t), "request")
	in := object{"mobile_number": coachNumber, "channel": "chat"}
	if got := s.Call(t, "POST", "/auth/request-otp", "", in).Want(t, 202); strings.Contains(string(got.Body), "send_to") {
		t.Errorf("got %s", got.Body)
	}
	m := s.last(t, 1)
	in["otp"] = m.Text
	if s.Call(t, "POST", "/auth/verify-otp", "", in).Want(t, 200); m.To != coachNumber {
		t.Errorf("the code went to %s", m.To)
	}
	s.Call(t, "POST", "/auth/login", "", in).Want(t, 200)

	without := touchlinetest.New(t, storetest.SQLite(t))
	got := without.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber, "channel": "chat"}).Want(t, 422)
	if !strings.Contains(string(got.Body), "not_available") {
		t.Errorf("got %s", got.Body)
	}
}

// TestSignInPageByChat: the page offers WhatsApp first, shows what to write, and takes the code; an SMS is the
// second choice.
func TestSignInPageByChat(t *testing.T) {
	t.Parallel()
	s := newSignInChat(t, storetest.SQLite(t))
	b := s.Browser(t)
	b.Open("/sign-in/coach")
	if text := b.Page.Text(); strings.Index(text, "Get the code by WhatsApp") > strings.Index(text, "Send me a code") || !strings.Contains(text, "Get the code by WhatsApp") {
		t.Errorf("the page says %q", text)
	}
	b.Press("Get the code by WhatsApp", "number", coachNumber)
	link := "https://wa.me/" + whatsAppNumber[1:] + "?text=" + strings.ReplaceAll(url.QueryEscape("Sign in to Touchline"), "+", "%20")
	if !strings.Contains(b.Page.Body, link) {
		t.Errorf("no link %s in\n%s", link, b.Page.Text())
	}
	s.inbound(t, coachNumber, says("Sign in to Touchline"))
	b.Press("Continue", "code", codeIn(t, s.last(t, 1)))
	if b.Page.Path != "/coach/profile" && b.Page.Path != "/coach" {
		t.Errorf("signed in at %s", b.Page.Path)
	}
	if n := s.Sent(coachNumber, "otp"); n != 0 {
		t.Errorf("%d SMS left", n)
	}

	other := s.Browser(t)
	other.Open("/sign-in/coach")
	other.Press("Get the code by WhatsApp", "number", "+919812377777")
	other.Press("Send the code by SMS")
	other.Press("Continue", "code", s.OTP("+919812377777", 0))
	if other.Page.Path != "/coach/profile" && other.Page.Path != "/coach" {
		t.Errorf("signed in at %s:\n%s", other.Page.Path, other.Page.Text())
	}
}

// TestSignInByTextingUs: a person sends an SMS and gets the code of the open challenge by SMS. Nothing leaves before, a repeated call
// and a message without an open challenge send nothing, and the answers count for the limits of OTPs.
func TestSignInByTextingUs(t *testing.T) {
	t.Parallel()
	twilio := smstest.NewTwilio(t)
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) {
		c.SMS, c.OTPSendsPerHour, c.OTPResendAfter = config.SecretURL(twilio.Spec()), 2, 0
	})
	reply := func(id, text, token string, want int) {
		t.Helper()
		form := url.Values{"From": {coachNumber}, "To": {twilio.Sender}, "Body": {text}, "MessageSid": {id}}
		if res := twilio.Post(t, s.Config.PublicURL+"/replies/twilio", form, token); res.StatusCode != want {
			t.Errorf("%s: %s, want %d", text, res.Status, want)
		}
	}
	sent := func(n int) string {
		t.Helper()
		eventually(t, "the answer", func() bool { return len(twilio.Messages()) >= n })
		if got := len(twilio.Messages()); got != n {
			t.Fatalf("%d SMS left, want %d", got, n)
		}
		return codePattern.FindString(twilio.Messages()[n-1].Get("Body"))
	}
	reply("1", "Sign in to Touchline", twilio.Token, 200) // without an open challenge
	asked := s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber, "channel": "sms_inbound"}).Want(t, 202)
	if asked.String("send_to") != twilio.Sender || asked.String("url") != "sms:"+twilio.Sender+"?body=Sign%20in%20to%20Touchline" {
		t.Errorf("got %s", asked.Body)
	}
	reply("2", "Sign in to Touchline", "another token", 401)
	reply("2", "Sign in to Touchline", twilio.Token, 200)
	code := sent(1)
	reply("2", "Sign in to Touchline", twilio.Token, 200)
	reply("3", "code", twilio.Token, 200)
	if again := sent(2); again != code {
		t.Errorf("the second answer has the code %s, and the first one %s", again, code)
	}
	reply("4", "code", twilio.Token, 200) // OTP_SENDS_PER_HOUR
	s.Call(t, "POST", "/auth/login", "", object{"mobile_number": coachNumber, "otp": code, "channel": "sms_inbound"}).Want(t, 200)
	sent(2)

	b := s.Browser(t)
	b.Open("/sign-in/coach")
	b.Press("Send me a code", "number", "+919812377777")
	sent(3)
	b.Press("Ask for the code by SMS")
	wantText(t, "the code", b.Page, []string{"Send us the SMS. We answer with your code.", "Or write “Sign in to Touchline” to "}, nil)
	if !strings.Contains(html.UnescapeString(b.Page.Body), "sms:"+twilio.Sender+"?body=Sign%20in%20to%20Touchline") {
		t.Errorf("no link in\n%s", b.Page.Body)
	}
}
