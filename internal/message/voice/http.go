package voice

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/platform/phone"
)

// HTTP posts calls as JSON to a gateway, which posts each step and the end of the call to the service.
// docs/operating.md has the protocol.
type HTTP struct {
	config  Config
	gateway *sms.HTTP
	key     []byte
}

func newHTTP(c Config) (*HTTP, error) {
	gateway, err := sms.NewHTTP(c.Account.URL, callTimeout)
	if err != nil {
		return nil, err
	}
	return &HTTP{c, gateway, []byte(gateway.Password())}, nil
}

// Name returns the provider in addresses.
func (h *HTTP) Name() string { return httpVoice }

// The kinds of calls.
const (
	kindOTP      = "otp"
	kindQuestion = "question"
)

// Call posts c without what it says.
func (h *HTTP) Call(ctx context.Context, c Call) error {
	attempt := message.MessageRef{MessageID: c.ID, Attempt: c.TotalAttempts, Provider: httpVoice}
	kind := kindQuestion
	if c.Code != "" {
		kind = kindOTP
	}
	return h.gateway.Post(ctx, struct {
		ID        string       `json:"id"`
		To        phone.Number `json:"to"`
		Kind      string       `json:"kind"`
		StepURL   string       `json:"step_url"`
		StatusURL string       `json:"status_url"`
	}{c.ID, c.To, kind, h.config.CallURL(attempt), h.config.ReceiptURL(attempt)})
}

// gatewayCall is what a gateway posts about a call.
type gatewayCall struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Key    string `json:"key"`
	Status string `json:"status"`
}

// read returns a body that has the signature of the gateway and the id of the call of the address, so that it
// counts for no other call.
func (h *HTTP) read(call message.ProviderCall) (c gatewayCall, ok bool) {
	mac := hmac.New(sha256.New, h.key)
	mac.Write(call.Body)
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	if !hmac.Equal([]byte(call.Header("X-Signature-256")), []byte(signature)) || len(h.key) == 0 {
		return c, false
	}
	err := json.Unmarshal(call.Body, &c)
	return c, err == nil && strings.Contains(call.URL, "/"+c.ID+".")
}

// ReadStep reads a signed body.
func (h *HTTP) ReadStep(call message.ProviderCall) (Step, bool) {
	c, ok := h.read(call)
	return Step{c.State, c.Key}, ok
}

// ReadReceipt reads a signed body about the status of a call.
func (h *HTTP) ReadReceipt(call message.ProviderCall) (r message.Report, final, ok bool) {
	c, ok := h.read(call)
	if ok {
		r, final = ended(c.Status, 0)
	}
	return r, final, ok
}

// Render returns p as JSON.
func (h *HTTP) Render(p Prompt, _ string) (mediaType string, body []byte, err error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(struct {
		Lines    []string `json:"lines"`
		Language string   `json:"language"`
		Keys     string   `json:"keys"`
		State    string   `json:"state"`
	}{p.Lines, message.SpokenLanguage(p.Language), p.Keys, p.State})
	return "application/json", b.Bytes(), err
}
