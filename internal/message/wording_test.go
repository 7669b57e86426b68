package message_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestWording compares every notification and SMS in every language with its golden file.
func TestWording(t *testing.T) {
	for _, language := range []string{"en", "hi"} {
		golden(t, "testdata/wording."+language+".golden", wording(t, language))
	}
}

// wording returns every notification and SMS in a language.
func wording(t *testing.T, language string) string {
	t.Helper()
	var b strings.Builder
	for _, e := range allEvents() {
		plan := message.Plan(e, "Touchline")
		if len(plan) == 0 {
			t.Errorf("no notification for %s by %s", e.Type, e.Party)
		}
		for _, n := range plan {
			english := n
			if n = n.In(language); language != "en" && (n.Title == english.Title || n.Body == english.Body) {
				t.Errorf("%s has no text in %s: %s", n.Type, language, n.Body)
			}
			fmt.Fprintf(&b, "%s %s -> %s %s: %s%s\n\t%s\n\t%s\n\t%+v\n", e.Type, e.Party, n.To, n.AccountID, n.Type, map[bool]string{true: ", by SMS too"}[slices.Contains(n.Channels, message.SMS)], n.Title, n.Body, n.Data)
		}
	}
	sms := func(what string, m message.Message) {
		m.Language = language
		text := message.SMSOf(m)
		fmt.Fprintf(&b, "%s: %s.%s, %d SMS\n\t%s\n", what, text.Template, text.Language, message.Segments(text.Body), text.Body)
	}
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		for _, kind := range []string{"first", "again", "reminder"} {
			for _, names := range [][2]string{{"Meera Nair", "Asha Rao"}, {"http://evil.example", "@"}} {
				details := message.RequestDetails{Party: party, CoachName: names[0], StudentName: names[1], ShortCode: "KQTWXY", Repeated: kind == "again"}
				sms(fmt.Sprintf("SMS to %s, %s", party, kind), request(details, "https://t.example/a/AbCdEfGhIjKlMnOpQrStUv", kind == "reminder"))
			}
		}
	}
	for _, role := range actor.Roles {
		for _, ending := range []message.OTPEnding{{}, {Host: "t.example"}, {AppHash: "FA+9qCX9VSu"}, {Host: "t.example", AppHash: "FA+9qCX9VSu"}} {
			m := otp(role, "", 5*time.Minute)
			m.Ending = ending
			sms(fmt.Sprintf("SMS otp %s %+v", role, ending), m)
		}
	}
	for _, m := range severalQuestions() {
		sms(fmt.Sprintf("SMS of %d questions", 1+len(m.More)), m)
	}
	return b.String()
}

// golden compares a text with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the wording changed; check the diff, then run with -update:\n%s", diff)
	}
}

// TestMails compares every mail in every language with the golden files.
func TestMails(t *testing.T) {
	question := message.RequestDetails{Party: actor.Guardian, CoachName: "Meera Nair", StudentName: "Asha Rao", ShortCode: "KQTWXY"}
	again, hostile := question, message.RequestDetails{Party: actor.Guardian, CoachName: "http://evil.example", StudentName: "{code} @"}
	again.Repeated = true
	const link = "https://t.example/a/AbCdEfGhIjKlMnOpQrStUv"
	messages := []message.Message{
		{Kind: message.Request, Request: question, Link: link},
		{Kind: message.Request, Request: again, Link: link},
		{Kind: message.Reminder, Request: question, Link: link},
		{Kind: message.Request, Request: question, Link: link, More: []message.Question{{RequestDetails: message.RequestDetails{Party: actor.Guardian, StudentName: "Bela Rao"}, Link: link + "2"}}},
		{Kind: message.Request, Request: hostile, Link: link},
	}
	codes := []message.Message{
		{Kind: message.OTP, Role: actor.Coach, Code: "482913", ValidFor: 5 * time.Minute},
		{Kind: message.OTP, Role: actor.Guardian, Code: "482913", ValidFor: 5 * time.Minute, ConfirmsAddress: true},
	}
	for _, language := range []string{"en", "hi"} {
		all := slices.Concat(messages, codes)
		for _, e := range allEvents() {
			for _, d := range message.Plan(e, "Touchline") {
				if slices.Contains(d.Channels, message.Email) {
					d = d.In(language)
					all = append(all, message.Message{Kind: message.NotificationCopy, Link: "https://t.example/me", Copy: message.Copy{Type: d.Type, Title: d.Title, Text: d.Body, ToCoach: d.To == actor.Coach, Confirmed: d.To == actor.Student, Readable: true}})
				}
			}
		}
		var b strings.Builder
		for _, m := range all {
			m.Brand, m.Language = "Touchline", language
			mail := message.MailOf(m)
			fmt.Fprintf(&b, "Subject: %s\n# %s\n", mail.Subject, mail.Heading)
			for _, text := range mail.Paragraphs {
				fmt.Fprintln(&b, text)
			}
			for _, l := range mail.Links {
				fmt.Fprintf(&b, "[%s] %s\n", l.Label, l.URL)
			}
			for _, text := range mail.After {
				fmt.Fprintln(&b, text)
			}
			fmt.Fprintf(&b, "-- %s [%s]\n\n", mail.Footer, mail.StopLabel)
			if mail.Required() != (m.Kind == message.OTP || m.Copy.Type == message.SecurityNotice) {
				t.Errorf("%s: required %t", mail.Subject, mail.Required())
			}
			if m.Code != "" && strings.Contains(mail.Subject+mail.Heading, m.Code) {
				t.Errorf("%s: the subject contains the code", mail.Subject)
			}
		}
		golden(t, "testdata/mail."+language+".golden", b.String())
	}
}

// TestPushTexts: no title names a person, and without permission no body does.
func TestPushTexts(t *testing.T) {
	for _, language := range []string{"en", "hi"} {
		for _, e := range allEvents() {
			for _, d := range message.Plan(e, "Touchline") {
				d = d.In(language)
				m := message.Message{ID: "id", Brand: "Touchline", Language: language, Copy: message.Copy{Type: d.Type, Title: d.Title, Text: d.Body}}
				text := message.PushOf(m, false)
				for _, name := range []string{"Asha", "Rao", "Ravi", "Meera", "evil"} {
					if strings.Contains(text.Title+text.Body, name) {
						t.Errorf("%s in %s: %+v has a name", d.Type, language, text)
					}
				}
				if named := message.PushOf(m, true); named.Body != d.Body || named.Title != d.Title {
					t.Errorf("%s in %s: %+v, want the text of the notification", d.Type, language, named)
				}
			}
		}
	}
	if got := message.PushOf(message.Message{Copy: message.Copy{Text: strings.Repeat("ष", 500)}}, true).Body; len([]rune(got)) != 400 {
		t.Errorf("a long body has %d characters", len([]rune(got)))
	}
}

// severalQuestions returns messages that ask several questions.
func severalQuestions() []message.Message {
	question := func(party actor.Role, coach, student, link string) message.Question {
		return message.Question{RequestDetails: message.RequestDetails{Party: party, CoachName: coach, StudentName: student, ShortCode: "KQTWXY"}, Link: "https://t.example/a/" + link}
	}
	asking := func(first message.Question, more ...message.Question) message.Message {
		return message.Message{Kind: message.Request, Brand: "Touchline", Request: first.RequestDetails, Link: first.Link, More: more}
	}
	const coach = "Meera Nair"
	asha, bela := question(actor.Guardian, coach, "Asha Rao", "AbCdEfGhIjKlMnOpQrStUv"), question(actor.Guardian, coach, "Bela Rao", "second")
	self := question(actor.Student, coach, "Chetan Rao", "ZyXwVuTsRqPoNmLkJiHgFe")
	return []message.Message{
		asking(asha, bela),
		asking(asha, bela, question(actor.Guardian, coach, "Chetan Rao", "third"), question(actor.Guardian, coach, "Divya Rao", "fourth")),
		asking(self, question(actor.Student, coach, "Asha Rao", "second")),
		asking(asha, self),
		asking(self, asha, bela),
		asking(question(actor.Guardian, "http://evil.example", "@", "first"), question(actor.Student, "http://evil.example", "@", "second")),
	}
}

func TestOTPTextRoundsToMinutes(t *testing.T) {
	for validity, want := range map[time.Duration]string{
		5 * time.Minute: "works for 5 minutes.", 90 * time.Second: "works for 2 minutes.",
		time.Minute: "works for 1 minute.", 4 * time.Second: "works for 1 minute.",
	} {
		if text := message.OTPText(otp(actor.Coach, "", validity)); !strings.Contains(text, want) {
			t.Errorf("OTPText for %s = %q, want %q in it", validity, text, want)
		}
	}
}

// The digest names the configured time.
func TestPendingReminderNamesDuration(t *testing.T) {
	for waited, want := range map[time.Duration]string{
		72 * time.Hour:          "3 days",
		24 * time.Hour:          "1 day",
		36 * time.Hour:          "36 hours",
		time.Hour:               "1 hour",
		90 * time.Minute:        "90 minutes",
		2 * time.Second:         "2 seconds",
		1500 * time.Millisecond: "1.5s",
	} {
		draft := message.Plan(event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 2, Waited: waited}, "Touchline")[0]
		if text := "You have 2 approval requests pending for more than " + want + "."; draft.Body != text {
			t.Errorf("after %s: body = %q, want %q", waited, draft.Body, text)
		}
	}
}

// No text names the service otherwise than the setting does.
func TestBrand(t *testing.T) {
	var texts []string
	for _, e := range allEvents() {
		for _, n := range message.Plan(e, "Club Yes") {
			texts = append(texts, n.Title, n.Body)
		}
	}
	messages := severalQuestions()
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		messages = append(messages, request(message.RequestDetails{Party: party}, "", false), request(message.RequestDetails{Party: party}, "", true))
	}
	for _, role := range actor.Roles {
		messages = append(messages, otp(role, "", time.Minute))
	}
	for _, m := range messages {
		m.Brand = "Club Yes"
		text := message.SMSText(m)
		texts = append(texts, text)
		if !strings.Contains(text, "Club Yes") {
			t.Errorf("an SMS without the brand: %s", text)
		}
	}
	for _, text := range texts {
		if strings.Contains(text, "Touchline") {
			t.Errorf("a text with another name: %s", text)
		}
	}
}

// request returns the message of an approval request, or of its reminder.
func request(details message.RequestDetails, link string, reminder bool) message.Message {
	m := message.Message{Kind: message.Request, Brand: "Touchline", Request: details, Link: link}
	if reminder {
		m.Kind = message.Reminder
	}
	return m
}

// otp returns the message of an OTP.
func otp(role actor.Role, host string, validity time.Duration) message.Message {
	return message.Message{Kind: message.OTP, Brand: "Touchline", Role: role, Code: "123456", ValidFor: validity, Ending: message.OTPEnding{Host: host}}
}

// An OTP is one SMS in English and two in Hindi, with the longest brand and any host.
func TestSMSLength(t *testing.T) {
	for language, most := range map[string]int{"en": 1, "hi": 2} {
		for _, role := range actor.Roles {
			for _, ending := range []message.OTPEnding{{}, {Host: "t.example"}, {Host: strings.Repeat("long.", 30) + "example", AppHash: "FA+9qCX9VSu"}} {
				m := otp(role, "", 24*time.Hour)
				m.Brand, m.Code, m.Language, m.Ending = strings.Repeat("W", 30), "1234567890", language, ending
				if n := message.Segments(message.OTPText(m)); n > most {
					t.Errorf("OTPText for a %s with %+v takes %d SMS, want at most %d: %s", role, ending, n, most, message.OTPText(m))
				}
			}
		}
	}
}

// An English request with names, brand and host of a usual length is one SMS and says
// everything; with a very long host it is two. In Hindi it is two, with a long host three.
func TestRequestSMSLength(t *testing.T) {
	hosts := map[string]map[int]int{"en": {20: 1, 30: 1, 32: 1, 55: 2}, "hi": {20: 2, 30: 3}}
	names := [][2]string{
		{"Meera Nair", "Asha Rao"},
		{"Venkataraman Subramaniam", "Krishnan Lakshmi Iye"},
		{"Venkataramansubramaniamx", "Krishnamoorthyiyerxy"},
		{"S. Lakshmi Narayanan Iye", "A. P. J. Sharma Raoo"},
		{strings.Repeat("Long ", 20), strings.Repeat("b", 100)},
	}
	for language, most := range hosts {
		for host, segments := range most {
			for _, n := range names {
				for _, m := range requests(n[0], n[1], "https://"+strings.Repeat("h", host)+"/a/AbCdEfGhIjKlMnOpQrStUv") {
					m.Language = language
					text := message.SMSText(m)
					if got := message.Segments(text); got > segments {
						t.Errorf("%d SMS, want %d, with a host of %d: %s", got, segments, host, text)
					}
					for _, part := range append(map[string][]string{
						"en": {"news", "sports app", "coach", "yes"},
						"hi": {"खबर", "खेल ऐप", "कोच", "ना"},
					}[language], m.Brand, m.Link) {
						if !strings.Contains(strings.ToLower(text), strings.ToLower(part)) {
							t.Errorf("no %q: %s", part, text)
						}
					}
					// The letters say where they are entered, or give way to the names.
					if page := strings.Repeat("h", host) + "/a "; strings.Contains(text, m.Request.ShortCode) && !strings.Contains(text, page) {
						t.Errorf("letters without their page: %s", text)
					}
				}
			}
		}
	}
	var b strings.Builder
	for _, host := range []string{"t.example", "touchline.sports-academy.example"} {
		for _, language := range []string{"en", "hi"} {
			for _, n := range [][2]string{{"Meera Nair", "Asha Rao"}, {"Venkataraman Subramaniam", "Krishnan Lakshmi Iye"}} {
				for _, m := range requests(n[0], n[1], "https://"+host+"/a/AbCdEfGhIjKlMnOpQrStUv") {
					m.Language = language
					fmt.Fprintf(&b, "%d %s\n", message.Segments(message.SMSText(m)), message.SMSText(m))
				}
			}
		}
	}
	golden(t, "testdata/sms_length.golden", b.String())
}

// requests returns each message that asks for an approval: the first, the repeated one and the
// reminder for each party, and one about two children.
func requests(coach, student, link string) (all []message.Message) {
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		for i := range 3 {
			all = append(all, request(message.RequestDetails{Repeated: i == 1, Party: party, CoachName: coach, StudentName: student, ShortCode: "KQTWXY"}, link, i == 2))
		}
	}
	two := all[0]
	two.More = []message.Question{{RequestDetails: two.Request, Link: link}}
	return append(all, two)
}

// The lines that let phones fill in the code end an OTP. The hash gives way to the host
// where there is no space for both.
func TestOTPEnding(t *testing.T) {
	ends := func(m message.Message, want string) {
		t.Helper()
		if text := message.OTPText(m); !strings.HasSuffix(text, want) || message.Segments(text) > 1 {
			t.Errorf("OTPText = %q, want one SMS that ends with %q", text, want)
		}
	}
	m := otp(actor.Guardian, "", 5*time.Minute)
	m.Ending = message.OTPEnding{Host: "t.example", AppHash: "FA+9qCX9VSu"}
	ends(m, "\n\nFA+9qCX9VSu\n@t.example #123456")
	m.Ending.Host = "a-long-name-of-a-club-house.example.org"
	ends(m, "coach.\n\n@a-long-name-of-a-club-house.example.org #123456")
	m.Ending.Host += ".and-a-longer-domain-for-it"
	ends(m, "coach.\n\nFA+9qCX9VSu")
	m.Ending.AppHash = ""
	ends(m, "not even the coach.")
}

// The text of a notification that is copied to SMS is the text of a template.
func TestCopiesHaveTemplates(t *testing.T) {
	found := 0
	for _, e := range allEvents() {
		for _, d := range message.Plan(e, "Touchline") {
			if !slices.Contains(d.Channels, message.SMS) {
				continue
			}
			for _, language := range []string{"en", "hi"} {
				found++
				body := d.In(language).Body
				text := message.SMSOf(message.Message{Kind: message.NotificationCopy, Copy: message.Copy{Type: d.Type, Text: body}})
				if text.Body != body || text.Template != string(d.Type) || text.Language != language || text.Values["coach"] == "" {
					t.Errorf("SMSOf(%q) = %+v, want the template %s.%s", body, text, d.Type, language)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("found %d copies, want more", found)
	}
	if text := message.SMSOf(message.Message{Kind: message.NotificationCopy, Copy: message.Copy{Text: "another text"}}); text.Template != "" || text.Body != "another text" {
		t.Errorf("SMSOf(another text) = %+v, want no template", text)
	}
}

// The list of templates for registration names each once and has the ends of OTPs.
func TestSMSTemplates(t *testing.T) {
	var b strings.Builder
	for _, template := range message.SMSTemplates("Touchline", "https://t.example", "FA+9qCX9VSu") {
		if template.Language != "en" && template.Language != "hi" {
			continue // testdata/question has what asks in other languages
		}
		fmt.Fprintf(&b, "%s\n\t%s\n", template.Key(), strings.ReplaceAll(template.Text, "\n", "\n\t"))
	}
	golden(t, "testdata/sms_templates.golden", b.String())
}

// TestWhatsAppTemplates: every text by WhatsApp in both languages.
func TestWhatsAppTemplates(t *testing.T) {
	var b strings.Builder
	for _, template := range message.WhatsAppTemplates("Touchline") {
		if template.Language != "en" && template.Language != "hi" {
			continue // testdata/question has what asks in other languages
		}
		fmt.Fprintf(&b, "%s.%s\n\t%s\n", template.Name, template.Language, template.Body)
		for _, button := range template.Buttons {
			fmt.Fprintf(&b, "\t[%s]\n", button)
		}
	}
	golden(t, "testdata/whatsapp_templates.golden", b.String())
}

// A question names coach and student in its first eight words, and no language has a list of answers that
// could be taken for a format to reply in unless the text would take one more SMS.
func TestQuestionNamesPeopleFirst(t *testing.T) {
	for _, language := range []string{"en", "hi"} {
		for _, m := range requests("Meera Nair", "Asha Rao", "https://t.example/a/AbCdEfGhIjKlMnOpQrStUv") {
			m.Language = language
			text := message.SMSText(m)
			first := strings.Join(strings.Fields(text)[:8], " ")
			if !strings.Contains(first, "Meera Nair") || !strings.Contains(first, "Asha") {
				t.Errorf("the first eight words do not name coach and student: %s", text)
			}
			if language == "en" && !strings.Contains(text, "? Tap ") {
				t.Errorf("a list of answers: %s", text)
			}
		}
	}
}
