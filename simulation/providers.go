package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// readSMS reads a message as Kannel takes it.
func readSMS(req *http.Request, content []byte) *message {
	receipt, _, _ := strings.Cut(local(req.Header.Get("X-Kannel-DLR-Url")), "?")
	m := &message{ID: deliveryOf(receipt), Channel: "sms", Kind: "message", To: req.Header.Get("X-Kannel-To"), Text: string(content), Receipt: receipt}
	if code.MatchString(m.Text) && !strings.Contains(m.Text, "/a/") {
		m.Kind = "otp"
	}
	return m
}

// readChat reads a message as the WhatsApp Cloud API takes it: its text is that of all parameters.
func readChat(_ *http.Request, content []byte) *message {
	var body struct {
		To   string `json:"to"`
		Ref  string `json:"biz_opaque_callback_data"`
		Text struct {
			Body string `json:"body"`
		} `json:"text"`
		Template struct {
			Components []struct {
				Parameters []struct {
					Text string `json:"text"`
				} `json:"parameters"`
			} `json:"components"`
		} `json:"template"`
	}
	_ = json.Unmarshal(content, &body) // a body that is no JSON has no recipient
	m := &message{ID: deliveryOf("/receipts/" + body.Ref), Channel: "chat", Kind: "message", To: "+" + body.To, Text: body.Text.Body, Ref: body.Ref}
	for _, c := range body.Template.Components {
		for _, p := range c.Parameters {
			m.Text += p.Text + " "
		}
	}
	return m
}

// readCall reads a call as the gateway for calls takes it.
func readCall(_ *http.Request, content []byte) *message {
	var body struct {
		ID     string `json:"id"`
		To     string `json:"to"`
		Step   string `json:"step_url"`
		Status string `json:"status_url"`
	}
	_ = json.Unmarshal(content, &body) // as in readChat
	return &message{ID: body.ID, Channel: "voice", Kind: "call", To: body.To, Receipt: local(body.Status), Step: local(body.Step)}
}

// answerOf is the body of the answer to an accepted message.
func answerOf(host string, m *message) io.ReadCloser {
	if host != chatHost {
		return http.NoBody
	}
	return io.NopCloser(strings.NewReader(`{"messaging_product": "whatsapp", "messages": [{"id": "wamid.` + m.ID + `"}]}`))
}

// local returns the path of an address of the service.
func local(address string) string { return strings.TrimPrefix(address, publicURL) }

// deliveryOf returns the delivery in /receipts/<delivery>.<attempt>.<provider>/<secret>: a further attempt has the same.
func deliveryOf(receipt string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(receipt, "/receipts/"), ".")
	return id
}
