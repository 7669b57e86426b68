package mail

import (
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"syscall"

	gomail "github.com/wneessen/go-mail"

	"github.com/touchline/touchline/internal/message"
)

// dialError returns the error of a connection that failed. It is always temporary: an operator
// can correct a refused password, and the message is not the cause.
func dialError(err error) error {
	reason := "connect to the mail server"
	text := err.Error()
	switch {
	case strings.Contains(text, "x509") || strings.Contains(text, "certificate"):
		reason = "the certificate of the mail server is not valid"
	case strings.Contains(text, "STARTTLS"):
		reason = "the mail server offers no STARTTLS"
	case strings.Contains(text, "AUTH"):
		reason = "the mail server refused the user or the password"
	default:
		if response, ok := errors.AsType[*textproto.Error](err); ok {
			reason = fmt.Sprintf("the mail server responded %d", response.Code)
		} else if _, ok := errors.AsType[*net.DNSError](err); ok {
			reason = "the host of the mail server was not found"
		} else if errno, ok := errors.AsType[syscall.Errno](err); ok {
			reason += ": " + errno.Error()
		}
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		reason = "the mail server did not respond in time"
	}
	return &message.SendError{Reason: reason}
}

// sendError returns the error of a message that the server did not take. Its reason has the
// codes of the server but not its text, which often contains the address.
func sendError(err error) error {
	failure, ok := errors.AsType[*gomail.SendError](err)
	if !ok || failure.ErrorCode() == 0 {
		return &message.SendError{Reason: "the connection to the mail server broke"}
	}
	code, status := failure.ErrorCode(), failure.EnhancedStatusCode()
	f := &message.SendError{Reason: strings.TrimSpace(fmt.Sprintf("the mail server responded %d %s", code, status))}
	switch {
	case code < 500:
	case failure.Reason == gomail.ErrSMTPRcptTo && !strings.HasPrefix(status, "5.7."):
		f.Permanent, f.Cause = true, causeOf(status)
	case failure.Reason == gomail.ErrSMTPData, failure.Reason == gomail.ErrSMTPDataClose:
		f.Permanent, f.Cause = true, message.CauseFiltered
	}
	// Any other refusal is about the sender or its rights (5.7.x), which an operator can correct.
	return f
}

// causeOf returns the cause of a permanent failure from an enhanced status code (RFC 3463).
// Without a code it returns CauseUnknownAddress, the common case.
func causeOf(status string) message.Cause {
	_, detail, _ := strings.Cut(status, ".")
	switch {
	case detail == "2.2":
		return message.CauseMailboxFull
	case strings.HasPrefix(detail, "7."), strings.HasPrefix(detail, "6."):
		return message.CauseFiltered
	case strings.HasPrefix(detail, "4."):
		return message.CauseNetwork
	default:
		return message.CauseUnknownAddress
	}
}
