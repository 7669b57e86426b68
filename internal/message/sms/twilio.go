package sms

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// TwilioAPI creates resources of an account through Twilio's REST API.
type TwilioAPI struct {
	client  *client
	url     *url.URL
	account Account
}

// NewTwilioAPI returns a TwilioAPI. Each attempt ends after timeout.
func NewTwilioAPI(a Account, timeout time.Duration) (*TwilioAPI, error) {
	client, u, err := newClient(a.URL, timeout)
	if err != nil {
		return nil, err
	}
	return &TwilioAPI{client, u.JoinPath("2010-04-01", "Accounts", a.User), a}, nil
}

// Create makes Twilio accept a resource such as Messages.json, and returns its SID, which begins with
// prefix. The error is a *message.SendError or the context's.
func (t *TwilioAPI) Create(ctx context.Context, resource, prefix string, form url.Values) (sid string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url.JoinPath(resource).String(), strings.NewReader(form.Encode()))
	if err != nil {
		return "", &message.SendError{Permanent: true, Reason: "invalid gateway address"}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(t.account.User, t.account.Password)
	res, err := t.client.do(ctx, req)
	if err != nil {
		return "", err
	}
	// The fields of a resource, or of an error.
	var body struct {
		SID       string `json:"sid"`
		ErrorCode *int   `json:"error_code"`
		Code      int    `json:"code"`
	}
	readable := json.Unmarshal(res.body, &body) == nil
	switch {
	case res.status == http.StatusCreated && readable && strings.HasPrefix(body.SID, prefix) && body.ErrorCode == nil:
		return body.SID, nil
	case res.status == http.StatusCreated:
		return "", &message.SendError{Outage: true, Reason: fmt.Sprintf("gateway %s responded 201 without its SID", t.client.host)}
	}
	failed := t.client.refused(res, false)
	if known, ok := twilioErrors[body.Code]; ok {
		failed.Permanent, failed.Cause = known.receipt == message.ReceiptUndeliverable, known.cause
	}
	if readable && body.Code != 0 {
		failed.Reason += fmt.Sprintf(", error %d", body.Code)
	}
	return "", failed
}

// Twilio sends messages through Twilio's Messages resource. Twilio reports receipts by
// calling the URL of receiptURL with a signed form.
type Twilio struct {
	api        *TwilioAPI
	sender     string
	receiptURL func(message.MessageRef) string
}

// NewTwilio returns a Twilio. Each attempt ends after timeout.
func NewTwilio(a Account, c Config, timeout time.Duration) (*Twilio, error) {
	api, err := NewTwilioAPI(a, timeout)
	if err != nil {
		return nil, err
	}
	return &Twilio{api, a.Sender, c.ReceiptURL}, nil
}

// Send makes Twilio accept m.
func (t *Twilio) Send(ctx context.Context, m Message) error {
	form := url.Values{"To": {string(m.To)}, "Body": {m.Text}, "StatusCallback": {t.receiptURL(m.ref(twilio))}}
	if strings.HasPrefix(t.sender, "MG") {
		form.Set("MessagingServiceSid", t.sender)
	} else {
		form.Set("From", t.sender)
	}
	_, err := t.api.Create(ctx, "Messages.json", "SM", form)
	return err
}
