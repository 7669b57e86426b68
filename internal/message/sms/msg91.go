package sms

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
)

// MSG91Template is a template of MSG91, and its id in the registry of India.
type MSG91Template struct{ ID, RegistryID string }

// MSG91 sends messages as templates through the flow interface of MSG91. MSG91 fills in the
// variables, which have the names of package message. It reports receipts by calling one
// address for the account; each report repeats the CRQID of its message.
type MSG91 struct {
	client    *client
	url       string
	account   Account
	templates map[string]MSG91Template
	secret    func(message.MessageRef) string
}

// NewMSG91 returns an MSG91. Each attempt ends after timeout.
func NewMSG91(a Account, c Config, timeout time.Duration) (*MSG91, error) {
	client, u, err := newClient(a.URL, timeout)
	if err != nil {
		return nil, err
	}
	return &MSG91{client: client, url: u.JoinPath("api", "v5", "flow").String(), account: a, templates: c.MSG91Templates, secret: c.ReceiptSecret}, nil
}

// msg91Flow is the request of the flow interface.
type msg91Flow struct {
	TemplateID string              `json:"template_id"`
	Sender     string              `json:"sender"`
	ShortURL   string              `json:"short_url"`
	EntityID   string              `json:"PE_ID"`
	RegistryID string              `json:"DLT_TE_ID"`
	CRQID      string              `json:"CRQID"`
	Recipients []map[string]string `json:"recipients"`
}

// Send passes m to MSG91.
func (p *MSG91) Send(ctx context.Context, m Message) error {
	template, ok := p.template(m.Template)
	if !ok {
		return &message.SendError{Cause: message.CauseFiltered, Reason: "MSG91_TEMPLATES has no " + templateKey(m.Template)}
	}
	ref := m.ref(msg91)
	crqid := strings.TrimSuffix(ref.String(), msg91) + p.secret(ref)
	recipient := map[string]string{"mobiles": strings.TrimPrefix(string(m.To), "+"), "CRQID": crqid}
	for name, value := range m.Template.Values {
		if name != "text" { // of a coach: no template of the registry has it
			value = message.RegistryValue(name, value)
		}
		recipient[name] = value
	}
	body, err := json.Marshal(msg91Flow{
		TemplateID: template.ID, Sender: p.account.Sender, ShortURL: "0", EntityID: p.account.EntityID, RegistryID: template.RegistryID,
		CRQID: crqid, Recipients: []map[string]string{recipient},
	})
	if err != nil {
		return &message.SendError{Permanent: true, Reason: "encode message as JSON"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return &message.SendError{Permanent: true, Reason: "invalid gateway address"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("authkey", p.account.User)
	res, err := p.client.do(ctx, req)
	if err != nil {
		return err
	}
	return p.result(res)
}

// msg91BadNumber has the error codes of MSG91 for a number that is not a mobile number.
var msg91BadNumber = map[string]bool{"101": true, "202": true}

// result returns the error that a response means, or nil. MSG91 also responds 200 to requests
// that it refuses.
func (p *MSG91) result(res response) error {
	var body struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Code    any    `json:"code"`
	}
	readable := json.Unmarshal(res.body, &body) == nil
	if res.status == http.StatusOK && readable && body.Type == "success" && body.Message != "" {
		return nil
	}
	failed := p.client.refused(res, false)
	code, _ := body.Code.(string)
	switch {
	case msg91BadNumber[code]:
		failed.Permanent, failed.Cause = true, message.CauseUnknownNumber
	case res.status == http.StatusOK:
		failed.Outage = true
	}
	if code != "" && len(code) < 10 {
		failed.Reason += ", error " + clean(code)
	}
	return failed
}

// template returns the registered template of a text, in its language or in the first of its fallbacks that has one.
func (p *MSG91) template(text message.Text) (t MSG91Template, ok bool) {
	for _, text.Language = range language.Chain(text.Language) {
		t, ok = p.templates[templateKey(text)]
		if ok {
			break
		}
	}
	return t, ok
}

func templateKey(text message.Text) string { return text.Template + "." + text.Language }
