package sms

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// Kannel sends messages through the sendsms interface of a Kannel smsbox (1.4). Kannel
// reports receipts by calling the URL of receiptURL with the parameters of readKannelReceipt.
type Kannel struct {
	client     *client
	account    Account
	receiptURL func(message.MessageRef) string
}

// kannelReceipts selects the receipts that Kannel reports. It is the sum of their types:
// delivered (1), not delivered (2), rejected by the network (16).
const kannelReceipts = "19"

// NewKannel returns a Kannel. An empty sender leaves the sender to Kannel's configuration. Each
// attempt ends after timeout.
func NewKannel(a Account, c Config, timeout time.Duration) (*Kannel, error) {
	client, _, err := newClient(a.URL, timeout)
	if err != nil {
		return nil, err
	}
	return &Kannel{client: client, account: a, receiptURL: c.ReceiptURL}, nil
}

// Send passes m to Kannel. Text of the GSM alphabet is sent in 7 bits, any other in UCS-2.
func (k *Kannel) Send(ctx context.Context, m Message) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.account.URL, bytes.NewReader([]byte(m.Text)))
	if err != nil {
		return &message.SendError{Permanent: true, Reason: "invalid gateway address"}
	}
	// Parameters are headers, so that no log of URLs holds the password.
	req.Header.Set("Content-Type", "text/plain; charset=UTF-8")
	req.Header.Set("X-Kannel-Username", k.account.User)
	req.Header.Set("X-Kannel-Password", k.account.Password)
	req.Header.Set("X-Kannel-To", string(m.To))
	if k.account.Sender != "" {
		req.Header.Set("X-Kannel-From", k.account.Sender)
	}
	req.Header.Set("X-Kannel-Coding", "2")
	if message.IsGSM(m.Text) {
		req.Header.Set("X-Kannel-Coding", "0")
	}
	req.Header.Set("X-Kannel-DLR-Mask", kannelReceipts)
	req.Header.Set("X-Kannel-DLR-Url", k.receiptURL(m.ref(kannel))+"?type=%d&answer=%A")
	res, err := k.client.do(ctx, req)
	if err != nil {
		return err
	}
	switch {
	case res.status == http.StatusAccepted:
		return nil
	case res.status == http.StatusBadRequest,
		// Kannel has the same status for a wrong password, which an operator can correct.
		res.status == http.StatusForbidden && bytes.HasPrefix(res.body, []byte("Not routable")):
		return k.client.refused(res, true)
	default:
		return k.client.refused(res, false)
	}
}
