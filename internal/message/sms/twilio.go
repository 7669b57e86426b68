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

// twilioURL is the address of Twilio's API.
const twilioURL = "https://api.twilio.com"

// TwilioAccount is an account of Twilio.
type TwilioAccount struct {
	SID, Token string
	// Sender is a number, a name, or the SID of a messaging service (MG…).
	Sender string
}

// Twilio sends messages through Twilio's Messages resource. Twilio reports receipts by
// calling the URL of receiptURL with a signed form.
type Twilio struct {
	client     *client
	url        string
	account    TwilioAccount
	receiptURL func(message.MessageRef) string
}

// NewTwilio returns a Twilio. An empty address is that of Twilio's API. Each attempt ends
// after timeout.
func NewTwilio(address string, c Config, timeout time.Duration) (*Twilio, error) {
	if address == "" {
		address = twilioURL
	}
	client, u, err := newClient(address, timeout)
	if err != nil {
		return nil, err
	}
	u = u.JoinPath("2010-04-01", "Accounts", c.Twilio.SID, "Messages.json")
	return &Twilio{client: client, url: u.String(), account: c.Twilio, receiptURL: c.ReceiptURL}, nil
}

// Send makes Twilio accept m.
func (t *Twilio) Send(ctx context.Context, m Message) error {
	form := url.Values{"To": {string(m.To)}, "Body": {m.Text}, "StatusCallback": {t.receiptURL(m.ref(twilio))}}
	if strings.HasPrefix(t.account.Sender, "MG") {
		form.Set("MessagingServiceSid", t.account.Sender)
	} else {
		form.Set("From", t.account.Sender)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, strings.NewReader(form.Encode()))
	if err != nil {
		return &message.SendError{Permanent: true, Reason: "invalid gateway address"}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(t.account.SID, t.account.Token)
	res, err := t.client.do(ctx, req)
	if err != nil {
		return err
	}
	// The fields of a Message, or of an error.
	var body struct {
		SID       string `json:"sid"`
		Status    string `json:"status"`
		ErrorCode *int   `json:"error_code"`
		Code      int    `json:"code"`
	}
	readable := json.Unmarshal(res.body, &body) == nil
	switch {
	case res.status == http.StatusCreated && readable && strings.HasPrefix(body.SID, "SM") && body.ErrorCode == nil:
		return nil
	case res.status == http.StatusCreated:
		return &message.SendError{Outage: true, Reason: fmt.Sprintf("gateway %s responded 201 without a message", t.client.host)}
	}
	failed := t.client.refused(res, false)
	if known, ok := twilioErrors[body.Code]; ok {
		failed.Permanent, failed.Cause = known.receipt == message.ReceiptUndeliverable, known.cause
	}
	if readable && body.Code != 0 {
		failed.Reason += fmt.Sprintf(", error %d", body.Code)
	}
	return failed
}
