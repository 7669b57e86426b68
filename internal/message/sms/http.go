package sms

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// HTTP posts messages as JSON to a gateway:
//
//	{"id": "…", "to": "+919876543210", "text": "…", "kind": "otp"}
//
// A 2xx status means accepted. 400, 410 and 422 are permanent failures. Any other
// status, redirects included, is a temporary failure; Retry-After is respected.
type HTTP struct {
	client         *client
	url            string
	user, password string
}

// NewHTTP returns an HTTP that posts to address, which may contain a user and a
// password. Each attempt ends after timeout.
func NewHTTP(address string, timeout time.Duration) (*HTTP, error) {
	c, u, err := newClient(address, timeout)
	if err != nil {
		return nil, err
	}
	password, _ := u.User.Password()
	h := &HTTP{client: c, user: u.User.Username(), password: password}
	u.User = nil
	h.url = u.String()
	return h, nil
}

// Password returns the password of the address.
func (h *HTTP) Password() string { return h.password }

// Send posts m.
func (h *HTTP) Send(ctx context.Context, m Message) error {
	return h.Post(ctx, struct {
		ID   string       `json:"id"`
		To   phone.Number `json:"to"`
		Text string       `json:"text"`
		Kind Kind         `json:"kind"`
	}{m.ID, m.To, m.Text, m.Kind})
}

// Post posts a message or a call as JSON.
func (h *HTTP) Post(ctx context.Context, value any) error {
	req, err := h.request(ctx, value)
	if err != nil {
		return err
	}
	res, err := h.client.do(ctx, req)
	if err != nil {
		return err
	}
	switch {
	case res.status >= 200 && res.status < 300:
		return nil
	case res.status == http.StatusBadRequest, res.status == http.StatusGone, res.status == http.StatusUnprocessableEntity:
		return h.client.refused(res, true)
	default:
		return h.client.refused(res, false)
	}
}

func (h *HTTP) request(ctx context.Context, value any) (*http.Request, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, &message.SendError{Permanent: true, Reason: "encode message as JSON"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, &body)
	if err != nil {
		return nil, &message.SendError{Permanent: true, Reason: "invalid gateway address"}
	}
	req.Header.Set("Content-Type", "application/json")
	if h.user != "" || h.password != "" {
		req.SetBasicAuth(h.user, h.password)
	}
	return req, nil
}
