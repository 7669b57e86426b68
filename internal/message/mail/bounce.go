package mail

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"

	"github.com/touchline/touchline/internal/message"
)

// ReadBounce is a message.BounceReader. A body is one of
//
//	{"message_id": "<0198…@touchline.example>", "type": "permanent", "status": "5.1.1"}
//
// with the type permanent or temporary and an optional enhanced status code (RFC 3463), or a notification of Amazon SES, or a
// whole delivery status notification (RFC 3464), as a mail server passes it to a program. Amazon SNS sends JSON as text/plain.
func ReadBounce(contentType string, body []byte) (message.Report, bool, error) {
	switch mediaType, _, _ := mime.ParseMediaType(contentType); mediaType {
	case "application/json", "text/plain":
		return readJSON(body)
	case "message/rfc822", "message/global": // RFC 6532
		return readNotification(body)
	}
	return message.Report{}, false, &message.BounceError{MediaType: true, Detail: "Send application/json, or a mail as message/rfc822."}
}

func readJSON(body []byte) (message.Report, bool, error) {
	if address := confirmation(body); address != "" {
		return message.Report{}, false, &message.BounceError{Confirm: address}
	}
	if r, final, ok := readSES(body); ok {
		return r, final, nil
	}
	if isOtherEvent(body) {
		return message.Report{}, false, nil
	}
	var b struct {
		MessageID string `json:"message_id"`
		Type      string `json:"type"`
		Status    string `json:"status"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return message.Report{}, false, &message.BounceError{Detail: "This is not a JSON object with the strings message_id and type."}
	}
	if b.MessageID == "" {
		return message.Report{}, false, &message.BounceError{Pointer: "/message_id", Detail: "This is needed."}
	}
	if b.Type != "permanent" && b.Type != "temporary" {
		return message.Report{}, false, &message.BounceError{Pointer: "/type", Detail: "This must be permanent or temporary."}
	}
	class := "4"
	if b.Type == "permanent" {
		class = "5"
	}
	_, detail, _ := strings.Cut(b.Status, ".")
	return report(b.MessageID, class+"."+detail), true, nil
}

// snsHost is a host of Amazon SNS.
var snsHost = regexp.MustCompile(`^sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$`)

// confirmation returns the address that a person opens once, so that Amazon SNS begins to send; "" if body is something else.
func confirmation(body []byte) string {
	var b struct{ Type, SubscribeURL string }
	if err := json.Unmarshal(body, &b); err != nil || b.Type != "SubscriptionConfirmation" {
		return ""
	}
	u, err := url.Parse(b.SubscribeURL)
	if err != nil || u.Scheme != "https" || u.User != nil || !snsHost.MatchString(u.Host) {
		return ""
	}
	return u.String()
}

// isOtherEvent reports whether body is an event of Amazon SNS or SES that says nothing about a mail that did not arrive. SNS repeats what is
// refused.
func isOtherEvent(body []byte) bool {
	var b struct{ Type, Message string }
	if err := json.Unmarshal(body, &b); err != nil {
		return false
	}
	var event struct{ NotificationType, EventType string }
	content := body
	if b.Type == "Notification" {
		content = []byte(b.Message)
	}
	err := json.Unmarshal(content, &event)
	kind := cmp.Or(event.NotificationType, event.EventType)
	// SES also sends a sentence when it begins to send events.
	return b.Type == "UnsubscribeConfirmation" || b.Type == "Notification" && err != nil || err == nil && kind != "" && kind != "Bounce"
}

// readSES reads a notification of Amazon SES about a bounce, by itself or in the envelope of SNS. A mail has one recipient. SES replaces
// the Message-ID, so that the mail is found by DeliveryHeader; the identity must include original headers.
func readSES(body []byte) (r message.Report, final, ok bool) {
	var envelope struct{ Type, Message string }
	if err := json.Unmarshal(body, &envelope); err == nil && envelope.Type == "Notification" {
		body = []byte(envelope.Message)
	}
	var n struct {
		NotificationType, EventType string
		Bounce                      struct {
			BounceType        string
			BouncedRecipients []struct{ Status string }
		}
		Mail struct {
			Headers []struct{ Name, Value string }
		}
	}
	if err := json.Unmarshal(body, &n); err != nil || n.NotificationType != "Bounce" && n.EventType != "Bounce" {
		return r, false, false
	}
	id := ""
	for _, h := range n.Mail.Headers {
		if strings.EqualFold(h.Name, DeliveryHeader) || id == "" && strings.EqualFold(h.Name, "Message-ID") {
			id = h.Value
		}
	}
	if id == "" {
		return r, false, false
	}
	status, class := "", "4."
	if n.Bounce.BounceType == "Permanent" {
		class = "5."
	}
	if len(n.Bounce.BouncedRecipients) > 0 {
		status = n.Bounce.BouncedRecipients[0].Status
	}
	_, detail, _ := strings.Cut(status, ".")
	return report(id, class+detail), true, true
}

// readNotification reads a delivery status notification: its second part says what happened,
// its third part holds the headers of the mail. A virus scanner may have put it into another mail, with its own text.
func readNotification(body []byte) (message.Report, bool, error) {
	m, err := mail.ReadMessage(bytes.NewReader(body))
	if err != nil {
		return message.Report{}, false, errNoNotification()
	}
	n, found := findNotification(textproto.MIMEHeader(m.Header), m.Body, maxNesting)
	if !found {
		return message.Report{}, false, errNoNotification()
	}
	id := n.envelope
	if !deliveryID.MatchString(id) { // a relay wrote another one
		id = cmp.Or(n.id, n.envelope)
	}
	if id == "" {
		return message.Report{}, false, &message.BounceError{Detail: "The notification holds neither the envelope id nor the Message-ID of the mail."}
	}
	return report(id, n.status), n.status != "", nil
}

// deliveryID is the id of a delivery, as Send gives it to the mail server.
var deliveryID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func errNoNotification() error {
	return &message.BounceError{Detail: "This is not a delivery status notification."}
}

// maxNesting is how many multiparts may surround a notification, with its own one.
const maxNesting = 4

// notification is what a delivery status notification says.
type notification struct {
	id, status string
	envelope   string // the id of the delivery that Send gave to the mail server, or that of a server on the way
}

// findNotification finds the notification in a mail or in a part of it.
func findNotification(header textproto.MIMEHeader, body io.Reader, depth int) (n notification, found bool) {
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(mediaType, "multipart/") || depth == 0 {
		return n, false
	}
	report := mediaType == "multipart/report"
	parts := multipart.NewReader(body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if err != nil {
			return n, report // the end, or a part that is cut off
		}
		if !report {
			n, found = findNotification(part.Header, part, depth-1)
			if found {
				return n, true
			}
			continue
		}
		var content io.Reader = part
		if strings.EqualFold(strings.TrimSpace(part.Header.Get("Content-Transfer-Encoding")), "base64") { // NextPart decodes quoted-printable only
			content = base64.NewDecoder(base64.StdEncoding, part)
		}
		partType, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		switch partType {
		case "message/delivery-status", "message/global-delivery-status": // RFC 6533
			n.status, n.envelope = failedStatus(content)
		case "message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers":
			header, _ := textproto.NewReader(bufio.NewReader(content)).ReadMIMEHeader()
			// A server such as Amazon SES replaces the Message-ID.
			n.id = cmp.Or(header.Get(DeliveryHeader), header.Get("Message-Id"))
		}
	}
}

// failedStatus returns the status code of the recipient if the mail failed for good, else "", and the envelope id of the mail (RFC 3464,
// section 2.2.1). A mail has one recipient.
func failedStatus(part io.Reader) (status, envelope string) {
	fields := textproto.NewReader(bufio.NewReader(part))
	for {
		group, err := fields.ReadMIMEHeader() // of the message, then of each recipient
		envelope = cmp.Or(envelope, group.Get("Original-Envelope-Id"))
		if strings.EqualFold(group.Get("Action"), "failed") {
			status, _, _ := strings.Cut(strings.TrimSpace(group.Get("Status")), " ")
			return status, envelope
		}
		if err != nil {
			return "", envelope
		}
	}
}

// report returns the report about the newest attempt of the mail with a Message-ID.
func report(messageID, status string) message.Report {
	id, _, _ := strings.Cut(strings.Trim(strings.TrimSpace(messageID), "<>"), "@")
	r := message.Report{MessageID: id, Attempt: message.NewestAttempt, Receipt: message.ReceiptUnreachable, Cause: causeOf(status), NetworkSays: printable(status)}
	switch {
	case strings.HasPrefix(status, "5."):
		r.Receipt = message.ReceiptUndeliverable
	case r.Cause == message.CauseUnknownAddress:
		r.Cause = "" // a temporary failure without a detail says nothing about the address
	}
	return r
}

// printable keeps the digits and dots of a status, so that a log line holds nothing else.
func printable(status string) string {
	return strings.Map(func(r rune) rune {
		if r != '.' && (r < '0' || r > '9') {
			return -1
		}
		return r
	}, status[:min(len(status), 10)])
}
