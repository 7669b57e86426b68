package message_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestQuestionIsTwoSMS: in every language a question with names of 12 letters takes at most two SMS, and has both names and the link.
func TestQuestionIsTwoSMS(t *testing.T) {
	t.Parallel()
	for _, code := range language.Offered() {
		for _, names := range [][2]string{{"Meera Nair", "Asha Rao"}, {"Meenakshi Raj", "Krishna Iyer"}, {"मीनाक्षी राज", "कृष्णा अय्यर"}} {
			for _, m := range requests(names[0], names[1], "https://t.example/a/AbCdEfGhIjKlMnOpQrStUv") {
				m.Language, m.Request.BatchNames = code, []string{"U12 Evening"}
				text := message.SMSText(m)
				if n := message.Segments(text); n > 2 {
					t.Errorf("%s: %d SMS: %s", code, n, text)
				}
				for _, part := range append(strings.Fields(names[0])[:1], strings.Fields(names[1])[0], m.Brand, m.Link) {
					if !strings.Contains(text, part) {
						t.Errorf("%s: no %q: %s", code, part, text)
					}
				}
			}
		}
	}
}

// TestQuestionInEachLanguage compares what asks a guardian and a student with the golden file of the language.
func TestQuestionInEachLanguage(t *testing.T) {
	for _, code := range language.Offered() {
		var b strings.Builder
		for _, party := range []actor.Role{actor.Guardian, actor.Student} {
			m := request(message.RequestDetails{Party: party, CoachName: "Meera Nair", StudentName: "Asha Rao", ShortCode: "KQTWXY", BatchNames: []string{"U12 Evening"}}, "https://t.example/a/AbCdEfGhIjKlMnOpQrStUv", false)
			m.Language = code
			fmt.Fprintf(&b, "SMS to %s, %d: %s\n", party, message.Segments(message.SMSText(m)), message.SMSText(m))
			for _, w := range message.WhatsAppOf(m) {
				fmt.Fprintf(&b, "WhatsApp in %s: %s\n", w.Template.Language, w)
			}
			q := message.CallQuestionOf(m)
			for _, p := range []message.CallPrompt{q.Ask(), q.Check(message.CallSure{AskedAt: time.Unix(1, 0)}), q.Done(message.ChatSure)} {
				fmt.Fprintf(&b, "call in %s: %s\n", p.Language, strings.Join(p.Lines, " | "))
			}
			mail := message.MailOf(m)
			fmt.Fprintf(&b, "mail: %s | %s | %s | %s\n", mail.Subject, mail.Heading, strings.Join(mail.Paragraphs, " | "), strings.Join(mail.After, " | "))
			chat := message.ChatQuestion{StudentName: "Asha Rao", CoachName: "Meera Nair", Party: party, Language: code}
			for _, a := range []message.ChatAnswer{chat.Ask(), chat.Check(time.Unix(1, 0))} {
				fmt.Fprintf(&b, "chat: %s", a.Text)
				for _, button := range a.Buttons {
					fmt.Fprintf(&b, " [%s]", button.Text)
				}
				b.WriteByte('\n')
			}
		}
		golden(t, "testdata/question/"+code+".golden", b.String())
	}
}
