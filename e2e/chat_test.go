package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/message/whatsapp/whatsapptest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// chatService is a service whose chat is a WhatsApp account.
type chatService struct {
	*touchlinetest.Service
	cloud   *whatsapptest.Cloud
	gateway *smstest.Gateway
}

// newChat starts a service with a WhatsApp account. kinds is the setting WHATSAPP.
func newChat(t *testing.T, database string, kinds ...string) chatService {
	t.Helper()
	cloud, gateway := whatsapptest.New(t), smstest.New(t)
	s := touchlinetest.New(t, database, func(c *config.Config) {
		c.SMS, c.WhatsApp, c.Endpoints.WhatsApp = config.SecretURL(gateway.Spec()), kinds, cloud.API()
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
	return chatService{s, cloud, gateway}
}

// coach registers a coach whose OTP arrives by SMS.
func (s chatService) coach(t *testing.T) *touchlinetest.User {
	t.Helper()
	return registerCoach(t, s.Service, func() (texts []string) {
		for _, m := range s.gateway.Accepted() {
			texts = append(texts, m.Text)
		}
		return texts
	})
}

// status posts a status of message n of the Cloud API.
func (s chatService) status(t *testing.T, n int, status string, code int) {
	t.Helper()
	if res := s.cloud.Status(t, s.Config.PublicURL+"/receipts/whatsapp", n, status, code, s.cloud.AppSecret); res.StatusCode != 200 {
		t.Errorf("%s of message %d: %s", status, n, res.Status)
	}
}

// TestChat: a message on the channel chat reaches a family that has not answered, as a template, and SMS
// takes over only where it was chosen.
func TestChat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database string) {
		s := newChat(t, database, "chat")
		coach := s.coach(t)
		asha := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		got := coach.Call(t, "GET", "/api/services/availability/"+asha, nil).Want(t, 200)
		if got.JSON["chat_enabled"] != true || got.JSON["chat_available"] != true {
			t.Errorf("availability: %s", got.Body)
		}
		send := func(text string, channels ...string) string {
			t.Helper()
			return coach.Call(t, "POST", "/api/messages", newMessage(text, channels, asha)).Want(t, 201).String("message_id")
		}
		state := func(id, want string) {
			t.Helper()
			var all []string
			eventually(t, "the message is "+want, func() bool {
				all = nil
				list, _ := coach.Call(t, "GET", "/api/messages/"+id, nil).Want(t, 200).JSON["recipients"].([]any)
				for _, c := range list[0].(object)["channels"].([]any) {
					c := c.(object)
					reason, _ := c["reason"].(string)
					all = append(all, strings.TrimSpace(c["channel"].(string)+" "+c["state"].(string)+" "+reason))
				}
				return slices.Equal(all, []string{want})
			})
			if t.Failed() {
				t.Logf("channels %q", all)
			}
		}

		id := send("Training is at five.\nBring water.", "chat")
		state(id, "chat sent")
		if m := s.cloud.Messages()[0]; m.To != guardianNumber || m.Template != "touchline_team_stop" || m.Text != "Message from Meera Nair: Training is at five. Bring water.\n\nTo get no more messages from this coach, answer STOP." {
			t.Errorf("WhatsApp got %+v", m)
		}
		s.status(t, 0, "sent", 0)
		s.status(t, 0, "delivered", 0)
		state(id, "chat delivered")

		id = send("See you.", "chat", "sms")
		state(id, "chat queued awaiting_status")
		s.status(t, 1, "failed", 131026)
		state(id, "sms sent")
		if last := s.gateway.Accepted()[len(s.gateway.Accepted())-1]; !strings.HasPrefix(last.Text, "Meera Nair: See you.") {
			t.Errorf("the SMS is %+v", last)
		}
	})
}
