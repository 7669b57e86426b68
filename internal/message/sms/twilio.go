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

// Twilio sends messages through Twilio's Messages resource. Twilio reports receipts by
// calling the URL of receiptURL with a signed form.
type Twilio struct {
	client     *client
	url        string
	account    Account
	receiptURL func(message.MessageRef) string
}

// NewTwilio returns a Twilio. Each attempt ends after timeout.
func NewTwilio(a Account, c Config, timeout time.Duration) (*Twilio, error) {
	client, u, err := newClient(a.URL, timeout)
	if err != nil {
		return nil, err
	}
	u = u.JoinPath("2010-04-01", "Accounts", a.User, "Messages.json")
	return &Twilio{client: client, url: u.String(), account: a, receiptURL: c.ReceiptURL}, nil
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
	req.SetBasicAuth(t.account.User, t.account.Password)
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
