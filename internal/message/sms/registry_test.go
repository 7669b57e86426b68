package sms_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/actor"
)

const (
	registryURL  = "https://touchline.example:8443"
	registryHash = "FA+9qCX9VSu"
)

// TestRegisteredTexts sends each message through each gateway to a number of India. What leaves by Twilio or MSG91 matches the text
// that is registered, with values that the type of each variable permits. A text that the registry refuses does not leave by MSG91,
// and by Twilio as free text. Numbers of other countries and other gateways get the short text.
func TestRegisteredTexts(t *testing.T) {
	t.Parallel()
	templates := map[string]message.SMSTemplate{}
	for _, template := range message.SMSTemplates("Club & Yes", registryURL, registryHash) {
		if template.Language == "en" || template.Language == "hi" {
			templates[template.Key()] = template
		}
	}
	for name, open := range registryGateways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sender, last := open(t, templates)
			seen := map[string]bool{}
			for _, m := range registryMessages(templates) {
				text := message.SMSOf(m)
				key := text.Template + "." + text.Language
				template := templates[key]
				seen[key] = true
				m.To = "+919876543210"
				err := sender.Send(t.Context(), m)
				free := name == "http" || name == "kannel"
				switch {
				case template.Unregistrable() == "" && err != nil:
					t.Errorf("%s: %v", key, err)
				case template.Unregistrable() == "" && !free:
					if got := last(); !registryPattern(template).MatchString(got) {
						t.Errorf("%s: %q left, registered is %q", key, got, template.DLT())
					}
				case name == "msg91":
					if err == nil {
						t.Errorf("%s, which cannot be registered, left: %q", key, last())
					}
				case err != nil || last() != text.Body:
					t.Errorf("%s: %q left (%v), want the text itself: %q", key, last(), err, text.Body)
				}
				if name == "msg91" {
					continue
				}
				m.To = "+447700900123"
				if err := sender.Send(t.Context(), m); err != nil || last() != text.Body {
					t.Errorf("%s to Britain: %q left (%v), want %q", key, last(), err, text.Body)
				}
				if n := sender.Segments(m); n != message.Segments(last()) {
					t.Errorf("%s: %d segments are counted, %d left", key, n, message.Segments(last()))
				}
			}
			for key := range templates {
				if !seen[key] {
					t.Errorf("no message has the template %s", key)
				}
			}
		})
	}
}

// registryGateways open a sender, and return the text that the gateway got last.
var registryGateways = map[string]func(*testing.T, map[string]message.SMSTemplate) (*sms.OutboxSender, func() string){
	"http": func(t *testing.T, _ map[string]message.SMSTemplate) (*sms.OutboxSender, func() string) {
		gateway := smstest.New(t)
		return outbox(t, sms.Config{Accounts: []sms.Account{account(gateway)}}), func() string {
			all := gateway.Accepted()
			return all[len(all)-1].Text
		}
	},
	"twilio": func(t *testing.T, _ map[string]message.SMSTemplate) (*sms.OutboxSender, func() string) {
		api := smstest.NewTwilio(t)
		return outbox(t, twilioConfig(api)), func() string {
			all := api.Messages()
			return all[len(all)-1].Get("Body")
		}
	},
	"kannel": func(t *testing.T, _ map[string]message.SMSTemplate) (*sms.OutboxSender, func() string) {
		var text string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			text = string(body)
			w.WriteHeader(http.StatusAccepted)
		}))
		t.Cleanup(server.Close)
		c := sms.Config{Accounts: []sms.Account{{Kind: "kannel", URL: server.URL, User: "u", Password: "p"}}, ReceiptURL: receiptURL}
		return outbox(t, c), func() string { return text }
	},
	"msg91": func(t *testing.T, templates map[string]message.SMSTemplate) (*sms.OutboxSender, func() string) {
		api := smstest.NewMSG91(t)
		c := msg91Config(api)
		for key, template := range templates {
			if template.Unregistrable() == "" {
				api.Templates[key] = regexp.MustCompile(`\{([a-z_]+)\}`).ReplaceAllString(template.Text, "##$1##")
				c.MSG91Templates[key] = sms.MSG91Template{ID: key, RegistryID: "1207160000000000001"}
			}
		}
		return outbox(t, c), func() string {
			all := api.Messages()
			return all[len(all)-1].Text
		}
	},
}

func outbox(t *testing.T, c sms.Config) *sms.OutboxSender {
	t.Helper()
	p, err := sms.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sms.NewOutboxSender(p, c.SendsRegistered(), nil)
}

// registryPattern matches the texts that the registry accepts for a template.
func registryPattern(t message.SMSTemplate) *regexp.Regexp {
	pattern := regexp.QuoteMeta(t.DLT())
	for tag, value := range map[message.Tag]string{
		message.TagNumeric: `[0-9]{1,10}`, message.TagURL: `https://[!-~]{1,60}`,
		message.TagAlphanumeric: fmt.Sprintf(`[\pL\pM\p{Nd}](?:[\pL\pM\p{Nd} ]{0,%d})`, message.MaxRegistryValue-1),
	} {
		pattern = strings.ReplaceAll(pattern, regexp.QuoteMeta("{#"+string(tag)+"#}"), value)
	}
	return regexp.MustCompile(`^` + pattern + `$`)
}

// registryMessages returns messages of each template, with names that have signs which the registry forbids.
func registryMessages(templates map[string]message.SMSTemplate) (all []message.Message) {
	const link = registryURL + "/a/AbCdEfGhIjKlMnOpQrStUv"
	for _, names := range [][2]string{
		{"Meera Nair", "Asha Rao"}, {"A. P. J. O'Brien-Rao", "D\u2019Souza, K.L. (U-12)"}, {"मीरा नायर", "आशा राव"}, {strings.Repeat("Long ", 20), strings.Repeat("Name ", 20)},
	} {
		for _, language := range []string{"en", "hi"} {
			add := func(m message.Message) {
				m.ID, m.Brand, m.Language, m.Attempt, m.TotalAttempts = "1", "Club & Yes", language, 1, 1
				all = append(all, m)
			}
			question := func(party actor.Role, again bool) message.RequestDetails {
				return message.RequestDetails{Party: party, CoachName: names[0], StudentName: names[1], BatchNames: []string{"U-12 & U-14, \u26bd"}, ShortCode: "KQTWXY", Repeated: again}
			}
			for _, role := range actor.Roles {
				for _, ending := range []message.OTPEnding{{Host: message.OTPHost(registryURL), AppHash: registryHash}} {
					add(message.Message{Kind: message.OTP, Role: role, Code: "482913", ValidFor: 5 * time.Minute, Ending: ending})
				}
			}
			for _, party := range []actor.Role{actor.Guardian, actor.Student} {
				first := message.Message{Kind: message.Request, Request: question(party, false), Link: link}
				add(first)
				add(message.Message{Kind: message.Request, Request: question(party, true), Link: link})
				add(message.Message{Kind: message.Reminder, Request: question(party, false), Link: link})
				for _, others := range [][]actor.Role{{party}, {actor.Student}, {party, party, party, party}} {
					first.More = nil
					for _, other := range others {
						first.More = append(first.More, message.Question{RequestDetails: question(other, false), Link: link})
					}
					add(first)
				}
			}
			for _, key := range slices.Sorted(maps.Keys(templates)) {
				template := templates[key]
				if template.Language != language || strings.HasPrefix(template.Name, "otp_") || strings.HasPrefix(template.Name, "request_") ||
					strings.HasPrefix(template.Name, "reminder_") || strings.HasPrefix(template.Name, "questions_") {
					continue
				}
				if template.Name == "team" {
					add(message.Message{Kind: message.Team, Team: message.TeamMessage{CoachName: names[0], Text: "See you!"}})
					continue
				}
				text := template.Text
				for name, value := range map[string]string{
					"coach": names[0], "student": names[1], "students": names[1] + ", " + names[1], "on_day": "on Tue 1 Dec", "what": "training", "when": "Tue 1 Dec, 17:30",
					"when_place": "Tue 1 Dec, 17:30, Ground #2", "reason": " It rains.", "until": "Until then all stays.",
				} {
					text = strings.ReplaceAll(text, "{"+name+"}", value)
				}
				add(message.Message{
					Kind: message.NotificationCopy, Link: link,
					Copy: message.Copy{Type: message.Type(template.Name), Text: strings.TrimSpace(strings.ReplaceAll(text, "{link}", ""))},
				})
			}
		}
	}
	return all
}
