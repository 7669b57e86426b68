package mail

import (
	"bytes"
	"mime"
	"net/http/httptest"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"
	gomail "github.com/wneessen/go-mail"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// hostileNames are names that do something in a medium: a header, a calendar, a file name, a template, a chat.
var hostileNames = []string{
	"=?utf-8?q?evil=2Ecom?=", "=?utf-8?b?ZXZpbC5jb20=?=", "=?utf-8?q?A=0AB?=", "=?UTF-8?Q?evil=2Ecom?=", "=?iso-8859-1?q?evil=2Ecom?=", "Meera =?utf-8?q?evil=2Ecom?= Nair",
	"=?utf-8*en?q?evil=2Ecom?=", "=?utf-8?q?a?= =?utf-8?q?b?=", "=?utf-8?q?evil", "x?==?utf-8?q?evil=2Ecom?=", "＝？utf-8？q？evil=2Ecom？＝", "=?utf-7?q?+AGE-?=",
	"Meera\r\nBcc: all@evil.com", "Meera\nX-Header: 1", "Meera\rNair", "Meera\x00Nair", "Meera\u2028Nair", "Meera\u2029Nair", "Meera\u0085Nair", "Meera\x0bNair",
	"BEGIN:VEVENT", "Meera\\nEND:VCALENDAR", "Meera;LOCATION=evil", "Meera,Nair;x:y", "END:VCALENDAR\r\nBEGIN:VCALENDAR", "\\,\\;\\n",
	"../../etc/passwd", "..\\..\\x", "a\"; filename=\"evil.exe", "con.pdf", "x%00.pdf", "a;b=c", "report.pdf\u202efdp.exe", "'; rm -rf /", "%0d%0aSet-Cookie: a=b", "a\tb",
	"*bold* Meera", "_it_ Meera", "~x~ Meera", "```code``` Meera", "*_~all~_* Meera", "＊bold＊ Meera", "{coach}", "{{1}}", "${jndi}", "<b>Meera</b>", "<script>alert(1)</script>", "&lt;Meera&gt;",
	"http://evil.com/x", "evil.com", "evil·com", "evil .com", "t . me / x", "98123x45678 Meera", "⑨⑧①②③④⑤⑥⑦⑧ Meera", "+91 98123 45678", "a@b.com", "Meera\u202eriaN", "\u200bMeera\ufeff", strings.Repeat("Meera ", 40),
	"Rs 500 free Meera", "Nair, Möna", "Nair, मीरा", "۹۸۱۲۳۴۵۶۷۸",
}

var marked = regexp.MustCompile("[*_~`]|=\\?|\\?=|[\\r\\n\\x00\u2028\u2029\u202e]|(?i)evil\\s*[.·]\\s*com|://|9812345678")

// TestHostileNames: each medium has one function for the names in it, and no name leaves it with a line break, an
// encoded word, a link, a number or a mark of emphasis.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	if len(hostileNames) < 60 {
		t.Fatalf("%d names", len(hostileNames))
	}
	for _, name := range hostileNames {
		safe := message.Name(name, "someone")
		if marked.MatchString(safe) || strings.ContainsFunc(safe, unicode.IsControl) {
			t.Errorf("a name in a message: %q became %q", name, safe)
		}

		// SMS and WhatsApp, also as the value of a template.
		m := message.Message{Brand: "Touchline", Link: "https://t.example/a/b", Request: message.RequestDetails{Party: actor.Guardian, CoachName: name, StudentName: name, BatchNames: []string{name}}}
		for field, value := range message.SMSOf(m).Values {
			if field != "link" && field != "other_link" && (marked.MatchString(value) || strings.ContainsFunc(value, unicode.IsControl)) {
				t.Errorf("%q in the SMS: %s is %q", name, field, value)
			}
		}
		for _, w := range message.WhatsAppOf(m) {
			for field, value := range w.Values {
				if field != "link" && field != "other_link" && marked.MatchString(value) {
					t.Errorf("%q in WhatsApp: %s is %q", name, field, value)
				}
			}
		}

		// A header of a mail, also with a name that was not cleaned: the client decodes exactly what was written.
		msg := gomail.NewMsg()
		msg.Subject(header(name))
		var raw bytes.Buffer
		if _, err := msg.WriteTo(&raw); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(regexp.MustCompile(`\r\n[ \t]`).ReplaceAllString(raw.String(), " "), "Subject:")
		line, _, _ := strings.Cut(rest, "\r\n")
		decoded, err := new(mime.WordDecoder).DecodeHeader(line)
		want := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				return ' '
			}
			return r
		}, name)), " ")
		if got := strings.Join(strings.Fields(decoded), " "); err != nil || got != want {
			t.Errorf("subject: %q became %q, which reads %q, %v", name, line, got, err)
		}

		// The sender, whose name is that of the service.
		config := Config{Server: "smtp://mail.example:25", From: "hello@touchline.example", FromName: name, Now: time.Now, StopURL: func(string) string { return "https://t.example/stop" }}
		sender, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := sender.message(message.Message{ID: "1", To: "family@example.com", Kind: message.Request, Brand: name, Link: "https://t.example/a/b", Request: m.Request})
		if err != nil {
			t.Fatal(err)
		}
		raw.Reset()
		if _, err := sent.WriteTo(&raw); err != nil {
			t.Fatal(err)
		}
		read, err := mail.ReadMessage(&raw)
		if err != nil {
			t.Fatal(err)
		}
		froms, err := read.Header.AddressList("From")
		if err != nil || len(froms) != 1 || froms[0].Address != "hello@touchline.example" || strings.Contains(froms[0].Name, "=?") || strings.ContainsFunc(froms[0].Name, unicode.IsControl) {
			t.Errorf("%q as the sender: %q, %v, %v", name, read.Header["From"], froms, err)
		}
		for field, values := range read.Header {
			if len(values) != 1 || !slices.Contains([]string{"From", "To", "Subject", "Date", "Message-Id", "Mime-Version", "Auto-Submitted", "X-Touchline-Delivery", "List-Unsubscribe", "List-Unsubscribe-Post", "Content-Type"}, field) {
				t.Errorf("%q made the header %s: %q", name, field, values)
			}
		}

		// A calendar.
		c := ics.NewCalendar()
		c.AddEvent("1").SetSummary(safe)
		if lines := c.Serialize(ics.WithNewLineWindows); strings.Count(lines, "BEGIN:") != 2 || strings.Count(lines, "END:") != 2 {
			t.Errorf("calendar: %q made %q", name, lines)
		}

		// A file name.
		w := httptest.NewRecorder()
		file := httpx.File{Name: name, MediaType: "application/pdf", Attachment: true, Content: strings.NewReader("x")}
		if err := file.Serve(w, httptest.NewRequest("GET", "/", nil)); err != nil {
			t.Fatal(err)
		}
		got := w.Header().Get("Content-Disposition")
		kind, parameters, err := mime.ParseMediaType(got)
		if err != nil || kind != "attachment" || len(parameters) != 1 || strings.Contains(got, "=?") || strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
			t.Errorf("file name: %q became %q, %v, %v", name, got, parameters, err)
		}
	}
}
