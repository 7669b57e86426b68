package mail_test

import (
	"os"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/mail"
)

const deliveryID = "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"

func TestReadBounce(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/bounce.eml")
	if err != nil {
		t.Fatal(err)
	}
	eml := string(content)
	const json, rfc822 = "application/json; charset=utf-8", "message/rfc822"
	for name, tt := range map[string]struct {
		contentType, body string
		receipt           message.Receipt // "" says nothing final
		cause             message.Cause
	}{
		"permanent":                {json, `{"message_id": "<` + deliveryID + `@touchline.example>", "type": "permanent", "status": "5.1.1"}`, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"permanent without status": {json, `{"message_id": "` + deliveryID + `", "type": "permanent"}`, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"mailbox full":             {json, `{"message_id": "` + deliveryID + `", "type": "temporary", "status": "5.2.2"}`, message.ReceiptUnreachable, message.CauseMailboxFull},
		"temporary":                {json, `{"message_id": "` + deliveryID + `", "type": "temporary"}`, message.ReceiptUnreachable, ""},
		"notification":             {rfc822, eml, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"line ends of mail":        {rfc822, strings.ReplaceAll(eml, "\n", "\r\n"), message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"gave up":                  {rfc822, strings.ReplaceAll(eml, "Status: 5.1.1", "Status: 4.4.1"), message.ReceiptUnreachable, message.CauseNetwork},
		"refused as spam":          {rfc822, strings.ReplaceAll(eml, "Status: 5.1.1", "Status: 5.7.1 (policy)"), message.ReceiptUndeliverable, message.CauseFiltered},
		"delayed":                  {rfc822, strings.ReplaceAll(eml, "Action: failed", "Action: delayed"), "", ""},
		"headers only":             {rfc822, strings.ReplaceAll(eml, "Content-Type: message/rfc822", "Content-Type: text/rfc822-headers"), message.ReceiptUndeliverable, message.CauseUnknownAddress},
	} {
		r, final, err := mail.ReadBounce(tt.contentType, []byte(tt.body))
		if err != nil || final != (tt.receipt != "") {
			t.Errorf("%s: final %t, %v", name, final, err)
			continue
		}
		if final && (r.MessageID != deliveryID || r.Receipt != tt.receipt || r.Cause != tt.cause) {
			t.Errorf("%s: %+v, want %s, %s", name, r, tt.receipt, tt.cause)
		}
	}
	for name, body := range map[string]string{
		"empty": "", "text": "no such user", "no id": strings.ReplaceAll(eml, "Message-ID:", "X-Other:"), "a mail": "Subject: Hello\n\nHello",
		"cut off": eml[:600],
	} {
		if r, final, err := mail.ReadBounce("message/rfc822", []byte(body)); err == nil || final {
			t.Errorf("%s: %+v, %t, %v; want an error", name, r, final, err)
		}
	}
	if _, final, err := mail.ReadBounce("text/plain", content); err == nil || final {
		t.Errorf("text/plain: %t, %v; want an error", final, err)
	}
	for _, body := range []string{``, `[]`, `{}`, `{"message_id": "x", "type": "hard"}`, `{"type": "permanent"}`, `{"message_id": 5, "type": "permanent"}`} {
		if _, final, err := mail.ReadBounce("application/json", []byte(body)); err == nil || final {
			t.Errorf("%s: %t, %v; want an error", body, final, err)
		}
	}
}

func FuzzReadBounce(f *testing.F) {
	content, err := os.ReadFile("testdata/bounce.eml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("message/rfc822", content)
	f.Add("application/json", []byte(`{"message_id": "x", "type": "permanent", "status": "5.1.1"}`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		r, final, err := mail.ReadBounce(contentType, body)
		if final && (err != nil || r.Receipt == "" || strings.Trim(r.NetworkSays, "0123456789.") != "") {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
