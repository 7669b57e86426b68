package mail_test

import (
	"encoding/base64"
	"errors"
	"os"
	"regexp"
	"strconv"
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
	otherID := regexp.MustCompile(`(?m)^Message-ID: *<?`+deliveryID+`.*$`).ReplaceAllString(eml, "Message-ID: <0100018f@email.amazonses.com>\nX-Touchline-Delivery: "+deliveryID)
	if otherID == eml {
		t.Fatal("the sample has no Message-ID")
	}
	ses := `{"notificationType": "Bounce", "bounce": {"bounceType": "Permanent", "bounceSubType": "General", "bouncedRecipients": [{"emailAddress": "meera@example.org", "action": "failed", "status": "5.1.1"}]}, "mail": {"messageId": "0100018f", "headers": [{"name": "Message-ID", "value": "<0100018f@email.amazonses.com>"}, {"name": "X-Touchline-Delivery", "value": "` + deliveryID + `"}]}}`
	const json, rfc822 = "application/json; charset=utf-8", "message/rfc822"
	for name, tt := range map[string]struct {
		contentType, body string
		receipt           message.Receipt // "" says nothing final
		cause             message.Cause
	}{
		"permanent":                    {json, `{"message_id": "<` + deliveryID + `@touchline.example>", "type": "permanent", "status": "5.1.1"}`, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"permanent without status":     {json, `{"message_id": "` + deliveryID + `", "type": "permanent"}`, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"mailbox full":                 {json, `{"message_id": "` + deliveryID + `", "type": "temporary", "status": "5.2.2"}`, message.ReceiptUnreachable, message.CauseMailboxFull},
		"temporary":                    {json, `{"message_id": "` + deliveryID + `", "type": "temporary"}`, message.ReceiptUnreachable, ""},
		"notification":                 {rfc822, eml, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"line ends of mail":            {rfc822, strings.ReplaceAll(eml, "\n", "\r\n"), message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"gave up":                      {rfc822, strings.ReplaceAll(eml, "Status: 5.1.1", "Status: 4.4.1"), message.ReceiptUnreachable, message.CauseNetwork},
		"refused as spam":              {rfc822, strings.ReplaceAll(eml, "Status: 5.1.1", "Status: 5.7.1 (policy)"), message.ReceiptUndeliverable, message.CauseFiltered},
		"delayed":                      {rfc822, strings.ReplaceAll(eml, "Action: failed", "Action: delayed"), "", ""},
		"headers only":                 {rfc822, strings.ReplaceAll(eml, "Content-Type: message/rfc822", "Content-Type: text/rfc822-headers"), message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"of an internationalised mail": {rfc822, strings.NewReplacer("message/delivery-status", "message/global-delivery-status", "Content-Type: message/rfc822", "Content-Type: message/global-headers").Replace(eml), message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"with another Message-ID":      {rfc822, otherID, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"in a multipart/mixed":         {rfc822, "Subject: Returned\nContent-Type: multipart/mixed; boundary=outer\n\n--outer\nContent-Type: text/plain\n\nScanned.\n--outer\n" + eml[strings.Index(eml, "Content-Type:"):] + "\n--outer--\n", message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"Amazon SES":                   {json, ses, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"Amazon SES by SNS":            {json, `{"Type": "Notification", "Message": ` + strconv.Quote(ses) + `}`, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"Amazon SNS as text":           {"text/plain; charset=UTF-8", `{"Type": "Notification", "Message": ` + strconv.Quote(ses) + `}`, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"with an envelope id only":     {rfc822, strings.NewReplacer("Message-ID:", "X-Other:", "Reporting-MTA:", "Original-Envelope-Id: "+deliveryID+"\nReporting-MTA:").Replace(eml), message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"envelope id of a relay":       {rfc822, strings.ReplaceAll(otherID, "Reporting-MTA:", "Original-Envelope-Id: 0LH000C3ABCDEF\nReporting-MTA:"), message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"parts in base64":              {rfc822, base64Parts(t, eml, "message/global-delivery-status", "message/global-headers"), message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"headers in base64":            {rfc822, base64Parts(t, eml, "message/delivery-status", "text/rfc822-headers"), message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"as message/global":            {"message/global", eml, message.ReceiptUndeliverable, message.CauseUnknownAddress},
		"Amazon SES, a delivery":       {json, `{"notificationType": "Delivery", "mail": {"messageId": "0100018f"}}`, "", ""},
		"Amazon SES, an event":         {json, `{"Type": "Notification", "Message": "{\"eventType\": \"Complaint\", \"mail\": {}}"}`, "", ""},
		"Amazon SES, the beginning":    {json, `{"Type": "Notification", "Message": "Successfully validated SNS topic for Amazon SES event publishing."}`, "", ""},
		"Amazon SNS, the end":          {"text/plain", `{"Type": "UnsubscribeConfirmation", "SubscribeURL": "https://sns.ap-south-1.amazonaws.com/"}`, "", ""},
		"Amazon SES, mailbox full":     {json, strings.NewReplacer("Permanent", "Transient", "5.1.1", "4.2.2").Replace(ses), message.ReceiptUnreachable, message.CauseMailboxFull},
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
		t.Errorf("a notification as text/plain: %t, %v; want an error", final, err)
	}
	for address, want := range map[string]string{
		"https://sns.ap-south-1.amazonaws.com/?Action=ConfirmSubscription&Token=23": "https://sns.ap-south-1.amazonaws.com/?Action=ConfirmSubscription&Token=23",
		"https://sns.evil.example/?Token=23":                                        "",
		"http://sns.ap-south-1.amazonaws.com/?Token=23":                             "",
	} {
		_, final, err := mail.ReadBounce("text/plain", []byte(`{"Type": "SubscriptionConfirmation", "SubscribeURL": `+strconv.Quote(address)+`}`))
		if wrong, ok := errors.AsType[*message.BounceError](err); !ok || final || wrong.Confirm != want {
			t.Errorf("subscription at %s: %t, %v; want %q to be opened", address, final, err, want)
		}
	}
	for _, body := range []string{``, `[]`, `{}`, `{"message_id": "x", "type": "hard"}`, `{"type": "permanent"}`, `{"message_id": 5, "type": "permanent"}`} {
		if _, final, err := mail.ReadBounce("application/json", []byte(body)); err == nil || final {
			t.Errorf("%s: %t, %v; want an error", body, final, err)
		}
	}
}

// base64Parts returns a notification whose second and third part have other types and are in base64.
func base64Parts(t *testing.T, eml string, types ...string) string {
	t.Helper()
	for i, old := range []string{"message/delivery-status", "message/rfc822"} {
		before, rest, found := strings.Cut(eml, "Content-Type: "+old+"\n\n")
		part, after, ends := strings.Cut(rest, "\n--")
		if !found || !ends {
			t.Fatalf("the sample has no part %s", old)
		}
		content := base64.StdEncoding.EncodeToString([]byte(part))
		eml = before + "Content-Type: " + types[i] + "\nContent-Transfer-Encoding: base64\n\n" + content[:60] + "\n" + content[60:] + "\n--" + after
	}
	return eml
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
