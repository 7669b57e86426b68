package whatsapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Provider is the name of WhatsApp in the addresses of status callbacks and in references of
// messages.
const Provider = message.ChatProvider

const (
	// sendTimeout bounds one attempt.
	sendTimeout = 10 * time.Second
	// maxResponse bounds how much of a response is read, in bytes.
	maxResponse = 64 << 10
)

// Config is the configuration for NewSender.
type Config struct {
	// API is the address of the Graph API with its version, PhoneID the id of the number that
	// sends, and Token the access token.
	API, PhoneID, Token string
	// TestNumber reports whether a number gets no messages.
	TestNumber func(phone.Number) bool
	// Accepted stores WhatsApp's id of a message that it accepted; nil stores none.
	Accepted func(ctx context.Context, deliveryID, providerID string) error
}

// Sender sends messages of the outbox by WhatsApp. It implements worker.Sender.
type Sender struct {
	url, token string
	testNumber func(phone.Number) bool
	accepted   func(ctx context.Context, deliveryID, providerID string) error
	http       *http.Client
}

// NewSender returns a Sender.
func NewSender(c Config) (*Sender, error) {
	u, err := url.Parse(c.API)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("the address of the WhatsApp API must be http or https with a host")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.MaxResponseHeaderBytes = maxResponse
	return &Sender{
		url: u.JoinPath(c.PhoneID, "messages").String(), token: c.Token, testNumber: c.TestNumber, accepted: c.Accepted,
		http: &http.Client{
			Transport: transport, Timeout: sendTimeout,
			// The token goes to the configured host only.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Suppressed reports whether to is a test number.
func (s *Sender) Suppressed(to string) bool { return s.testNumber(phone.Number(to)) }

// Segments returns how much the message limits count for m: its SMS segments, because it leaves
// by SMS if WhatsApp cannot deliver it.
func (s *Sender) Segments(m message.Message) int { return message.Segments(message.SMSText(m)) }

// Send makes one attempt. It returns nil if WhatsApp accepted the message; a status says later
// whether it was sent.
func (s *Sender) Send(ctx context.Context, m message.Message) error {
	texts := message.WhatsAppOf(m)
	if len(texts) == 0 {
		return &message.SendError{Permanent: true, Cause: message.CauseFiltered, Reason: "WhatsApp has no template for this kind of message"}
	}
	ref := message.MessageRef{MessageID: m.ID, Attempt: m.TotalAttempts, Provider: Provider}
	for _, text := range texts {
		id, err := s.post(ctx, newMessage(m.To, ref, text), temporary)
		if err != nil {
			return err
		}
		if s.accepted != nil {
			// Without the id a reply goes to the coach who wrote last.
			_ = s.accepted(ctx, m.ID, id)
		}
	}
	return nil
}

// Check reads the number that sends, with the access token. It sends no message.
func (s *Sender) Check(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.url, "/messages")+"?fields=id", http.NoBody)
	if err != nil {
		return errors.New("the address of the WhatsApp API is invalid")
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := s.http.Do(req)
	if err != nil {
		return errors.New("WhatsApp " + describe(err))
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return errors.New("WhatsApp refused the access token")
	}
	return fmt.Errorf("WhatsApp responded %d to a read of phone_id", res.StatusCode)
}

// Say sends an answer to a person who just wrote or pressed a button.
func (s *Sender) Say(ctx context.Context, to phone.Number, a message.ChatAnswer) error {
	_, err := s.post(ctx, newAnswer(string(to), a), temporaryForAnswer)
	return err
}

// post sends a message and returns WhatsApp's id of it. temporary are the error codes after which a later attempt may
// succeed.
func (s *Sender) post(ctx context.Context, m Message, temporary map[int]bool) (id string, err error) {
	body, err := json.Marshal(m)
	if err != nil {
		return "", &message.SendError{Permanent: true, Reason: "encode message as JSON"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return "", &message.SendError{Permanent: true, Reason: "invalid address of the WhatsApp API"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("User-Agent", "Touchline")
	res, err := s.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", &message.SendError{Outage: true, Reason: "WhatsApp " + describe(err)}
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	return result(res.StatusCode, raw, temporary)
}

// describe returns a safe phrase for err: the error itself contains the address.
func describe(err error) string {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "timed out"
	}
	return "is unreachable"
}

// result returns the id in a response of the Cloud API, or the error that it means.
func result(status int, body []byte, temporary map[int]bool) (id string, err error) {
	var parsed struct {
		Messages []struct {
			ID string `json:"id"`
		} `json:"messages"`
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	readable := json.Unmarshal(body, &parsed) == nil
	if status == http.StatusOK && readable && len(parsed.Messages) == 1 && parsed.Messages[0].ID != "" {
		return parsed.Messages[0].ID, nil
	}
	failed := &message.SendError{Reason: fmt.Sprintf("WhatsApp responded %d", status)}
	code := parsed.Error.Code
	if code != 0 {
		failed.Reason += fmt.Sprintf(", error %d", code)
	}
	failed.Permanent = readable && code != 0 && !temporary[code] && status < http.StatusInternalServerError && status != http.StatusTooManyRequests
	if failed.Permanent {
		failed.Cause = causeOf(code)
	} else {
		failed.Outage = true
	}
	return "", failed
}
