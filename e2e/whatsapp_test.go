package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/message/whatsapp/whatsapptest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestWhatsApp: OTPs and requests leave by WhatsApp, and signed statuses report their
// state. What WhatsApp refuses, fails to deliver or does not report leaves by SMS, with the same
// code or request.
func TestWhatsApp(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		cloud, gateway := whatsapptest.New(t), smstest.New(t)
		s := touchlinetest.New(t, database, func(c *config.Config) {
			c.SMS, c.WhatsApp, c.Endpoints.WhatsApp = config.SecretURL(gateway.Spec()), []string{"otp", "request"}, cloud.API()
			c.WhatsAppAccount = config.WhatsAppAccount{
				PhoneID: config.Secret(cloud.PhoneID), Token: config.Secret(cloud.Token), AppSecret: config.Secret(cloud.AppSecret), VerifyToken: config.Secret(cloud.VerifyToken),
			}
		})
		for _, template := range whatsapp.NewTemplates(s.Config.Brand, s.Config.PublicURL) {
			body, err := json.Marshal(template)
			if err != nil {
				t.Fatal(err)
			}
			cloud.Create(t, body)
		}
		address := s.Config.PublicURL + "/receipts/whatsapp"
		status := func(n int, status string, code int, secret string, want int) {
			t.Helper()
			if res := cloud.Status(t, address, n, status, code, secret); res.StatusCode != want {
				t.Errorf("%s of message %d: %s, want %d", status, n, res.Status, want)
			}
		}
		check := func(token string, wantStatus int, want string) {
			t.Helper()
			res, err := http.Get(address + "?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=" + token)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if body, _ := io.ReadAll(res.Body); res.StatusCode != wantStatus || want != "" && string(body) != want {
				t.Errorf("verification: %s %s, want %d %s", res.Status, body, wantStatus, want)
			}
		}
		check(cloud.VerifyToken, 200, "1158201444")
		check("another", 404, "")

		coach := registerCoach(t, s, func() (texts []string) {
			for _, m := range cloud.Messages() {
				texts = append(texts, m.Text)
			}
			return texts
		})
		status(0, "sent", 0, cloud.AppSecret, 200)
		await := func(request, want string) {
			t.Helper()
			eventually(t, "the delivery is "+want, func() bool { return deliveryOf(getRequest(t, coach, request)) == want })
		}
		ask := func(n int, number string) string {
			t.Helper()
			return coach.AddPlayer(t, child(n, number)).String("guardian_request_id")
		}

		request := ask(1, guardianNumber)
		await(request, "chat queued awaiting_status")
		if m := cloud.Messages()[1]; m.To != guardianNumber || len(m.Links) != 1 || !strings.HasPrefix(m.Links[0], s.Config.PublicURL+"/a/") || !strings.Contains(m.Text, "Meera Nair") {
			t.Errorf("WhatsApp got %+v, want the question with its link", m)
		}
		status(1, "failed", 131026, "another secret", 401)
		await(request, "chat queued awaiting_status")
		status(1, "sent", 0, cloud.AppSecret, 200)
		await(request, "chat sent ")
		s.Clock.Advance(time.Minute)
		for _, id := range []string{"wamid.of another system", cloud.Messages()[1].ID} { // a status without our reference
			body := map[string]any{"statuses": []any{map[string]any{"id": id, "status": "delivered"}}}
			if res := cloud.Post(t, address, body, cloud.AppSecret); res.StatusCode != 200 {
				t.Errorf("a status without a reference: %s", res.Status)
			}
		}
		await(request, "chat delivered ")
		if n := gateway.Attempts(); n != 0 {
			t.Errorf("the SMS gateway got %d messages, want none", n)
		}

		// A reply stops the coach's messages, a forged one does not.
		// Meta sends many replies in one call.
		replies := 0
		say := func(text, secret string, want int) (repeat func()) {
			t.Helper()
			replies++
			s.Clock.Advance(2 * time.Second) // times have no fractions of a second
			newMessage := func(text, from string) any {
				return map[string]any{
					"from": from, "id": fmt.Sprintf("wamid.in%d", replies), "timestamp": strconv.FormatInt(s.Clock.Now().Unix(), 10), "type": "text", "text": map[string]any{"body": text},
				}
			}
			messages := slices.Repeat([]any{newMessage("Thanks", "15550100")}, 249)
			messages = append(messages, newMessage(text, strings.TrimPrefix(guardianNumber, "+")))
			post := func() {
				t.Helper()
				res := cloud.Post(t, address, map[string]any{"messages": messages}, secret)
				for range 3 { // Meta repeats a call that a slow machine could not store in time
					if res.StatusCode == 503 {
						res = cloud.Post(t, address, map[string]any{"messages": messages}, secret)
					}
				}
				if res.StatusCode != want {
					t.Errorf("reply %s: %s, want %d", text, res.Status, want)
				}
			}
			post()
			return post
		}
		say("STOP", "another secret", 401)
		awaitBlocked(t, coach, request, nil)
		say("Stop", cloud.AppSecret, 200)
		awaitBlocked(t, coach, request, "stopped")
		repeatStart := say("START", cloud.AppSecret, 200)
		awaitBlocked(t, coach, request, nil)
		say("STOP", cloud.AppSecret, 200)
		repeatStart() // as Meta does if it lost the response
		awaitBlocked(t, coach, request, "stopped")
		say("START", cloud.AppSecret, 200)
		awaitBlocked(t, coach, request, nil)

		// No WhatsApp at this number, told at once and told later.
		cloud.Refuse("+919812300071", 131026)
		request = ask(2, "+919812300071")
		await(request, "sms sent ")
		request = ask(3, "+919812300072")
		await(request, "chat queued awaiting_status")
		status(2, "failed", 131026, cloud.AppSecret, 200)
		await(request, "sms sent ")
		status(2, "failed", 131026, cloud.AppSecret, 200)
		if got := gateway.Accepted(); len(got) != 2 || got[1].To != "+919812300072" || !strings.Contains(got[1].Text, cloud.Messages()[2].Links[0]) {
			t.Errorf("the SMS gateway got %+v, want two messages with the link of WhatsApp's", got)
		}

		// An OTP without a status leaves by SMS while it is valid, with the same code.
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": guardianNumber, "role": "guardian"}).Want(t, 202)
		eventually(t, "WhatsApp gets the OTP", func() bool { return len(cloud.Messages()) == 4 })
		left := 12 // the OTP is valid for 5 minutes
		eventually(t, "the OTP leaves by SMS", func() bool {
			if left--; left >= 0 {
				s.Clock.Pass(10 * time.Second) // a claim of a delivery lasts 60 s
			}
			return len(gateway.Accepted()) == 3
		})
		otp := gateway.Accepted()[2]
		if otp.To != guardianNumber || codePattern.FindString(otp.Text) != cloud.Messages()[3].Text {
			t.Errorf("the SMS is %+v, want the code %s", otp, cloud.Messages()[3].Text)
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": guardianNumber, "otp": cloud.Messages()[3].Text, "role": "guardian"}).Want(t, 200)
	})
}

// deliveryOf returns the channel, state and reason of the newest message of a request that left
// the app.
func deliveryOf(request *touchlinetest.Response) (got string) {
	list, _ := request.JSON["deliveries"].([]any)
	for _, d := range list {
		d := d.(map[string]any)
		if d["channel"] != "in_app" {
			reason, _ := d["reason"].(string)
			got = d["channel"].(string) + " " + d["state"].(string) + " " + reason
		}
	}
	return got
}
