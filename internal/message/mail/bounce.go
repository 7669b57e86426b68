package mail

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"strings"

	"github.com/touchline/touchline/internal/message"
)

// ReadBounce is a message.BounceReader. A body is one of
//
//	{"message_id": "<0198…@touchline.example>", "type": "permanent", "status": "5.1.1"}
//
// with the type permanent or temporary and an optional enhanced status code (RFC 3463), or a
// whole delivery status notification (RFC 3464), as a mail server passes it to a program.
func ReadBounce(contentType string, body []byte) (message.Report, bool, error) {
	switch mediaType, _, _ := mime.ParseMediaType(contentType); mediaType {
	case "application/json":
		return readJSON(body)
	case "message/rfc822":
		return readNotification(body)
	}
	return message.Report{}, false, &message.BounceError{MediaType: true, Detail: "Send application/json, or a mail as message/rfc822."}
}

func readJSON(body []byte) (message.Report, bool, error) {
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

// readNotification reads a delivery status notification: its second part says what happened,
// its third part holds the headers of the mail.
func readNotification(body []byte) (message.Report, bool, error) {
	invalid := &message.BounceError{Detail: "This is not a delivery status notification."}
	m, err := mail.ReadMessage(bytes.NewReader(body))
	if err != nil {
		return message.Report{}, false, invalid
	}
	mediaType, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || mediaType != "multipart/report" {
		return message.Report{}, false, invalid
	}
	var id, status string
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if err != nil {
			break // the end, or a part that is cut off
		}
		partType, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		switch partType {
		case "message/delivery-status":
			status = failedStatus(part)
		case "message/rfc822", "text/rfc822-headers":
			header, _ := textproto.NewReader(bufio.NewReader(part)).ReadMIMEHeader()
			id = header.Get("Message-Id")
		}
	}
	if id == "" {
		return message.Report{}, false, &message.BounceError{Detail: "The notification does not hold the Message-ID of the mail."}
	}
	return report(id, status), status != "", nil
}

// failedStatus returns the status code of the recipient if the mail failed for good, else "".
// A mail has one recipient.
func failedStatus(part io.Reader) string {
	fields := textproto.NewReader(bufio.NewReader(part))
	for {
		group, err := fields.ReadMIMEHeader() // of the message, then of each recipient
		if strings.EqualFold(group.Get("Action"), "failed") {
			status, _, _ := strings.Cut(strings.TrimSpace(group.Get("Status")), " ")
			return status
		}
		if err != nil {
			return ""
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
