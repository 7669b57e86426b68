// Package whatsapptest is the WhatsApp Cloud API on a real socket, for tests. It accepts and
// refuses messages as Meta's documentation says, and calls the webhook with statuses and replies.
package whatsapptest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Cloud is the API with one number.
type Cloud struct {
	PhoneID, Token, AppSecret, VerifyToken string

	server *httptest.Server

	mu          sync.Mutex
	templates   map[string]template // by name and language
	errors      map[string]int      // by number
	unavailable bool
	open        map[string]bool // numbers that wrote in the last 24 h
	messages    []Sent
	faults      []string
}

// Sent is an accepted message.
type Sent struct {
	ID, To, Template, Language string
	// Text is the body with its values, or the code.
	Text string
	// Links are the links of the buttons.
	Links []string
	// Buttons are the payloads of the buttons that answer.
	Buttons []string
	// Ref is the biz_opaque_callback_data. Statuses return it.
	Ref string
}

// New starts a Cloud API. The test fails if a request breaks the documentation.
func New(tb testing.TB) *Cloud {
	tb.Helper()
	c := &Cloud{
		PhoneID: "106540352242922", Token: "S3NT1NEL", AppSecret: "app-s3cret", VerifyToken: "verify-t0ken",
		templates: map[string]template{}, errors: map[string]int{}, open: map[string]bool{},
	}
	c.server = httptest.NewServer(http.HandlerFunc(c.serve))
	tb.Cleanup(func() {
		c.server.Close()
		for _, fault := range c.faults {
			tb.Errorf("invalid request to WhatsApp: %s", fault)
		}
	})
	return c
}

// API returns the base URL of the API with its version.
func (c *Cloud) API() string { return c.server.URL + "/v23.0" }

// Messages returns the accepted messages.
func (c *Cloud) Messages() []Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages)
}

// Refuse makes WhatsApp refuse messages to a number with an error code.
func (c *Cloud) Refuse(to string, code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors[to] = code
}

// SetOpen says whether a number wrote in the last 24 h: only then WhatsApp takes a text without a template.
func (c *Cloud) SetOpen(number string, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[number] = open
}

// SetUnavailable says whether WhatsApp responds 503 to every request.
func (c *Cloud) SetUnavailable(unavailable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unavailable = unavailable
}

func (c *Cloud) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fail := func(status, code int, message string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
			"message": fmt.Sprintf("(#%d) %s", code, message), "type": "OAuthException", "code": code, "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
			"error_data": map[string]any{"messaging_product": "whatsapp", "details": message},
		}})
	}
	switch {
	case c.unavailable:
		fail(http.StatusServiceUnavailable, 131016, "Service unavailable")
		return
	case r.Header.Get("Authorization") != "Bearer "+c.Token:
		fail(http.StatusUnauthorized, 190, "Invalid OAuth access token")
		return
	case r.Method == http.MethodGet && r.URL.Path == "/v23.0/"+c.PhoneID:
		_ = json.NewEncoder(w).Encode(map[string]string{"id": c.PhoneID})
		return
	case r.Method != http.MethodPost || r.URL.Path != "/v23.0/"+c.PhoneID+"/messages" || r.Header.Get("Content-Type") != "application/json":
		c.faults = append(c.faults, r.Method+" "+r.URL.Path)
		fail(http.StatusBadRequest, 100, "Unsupported request")
		return
	}
	sent, err := c.read(r)
	if err != nil {
		c.faults = append(c.faults, err.Error())
		fail(http.StatusBadRequest, 132000, err.Error())
		return
	}
	if code := c.errors[sent.To]; code != 0 {
		fail(http.StatusBadRequest, code, "Refused")
		return
	}
	if sent.Template == "" && !c.open[sent.To] {
		fail(http.StatusBadRequest, 131047, "Re-engagement message")
		return
	}
	sent.ID = fmt.Sprintf("wamid.HBgL%08d", len(c.messages))
	c.messages = append(c.messages, sent)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"messaging_product": "whatsapp", "contacts": []any{map[string]any{"input": sent.To, "wa_id": strings.TrimPrefix(sent.To, "+")}},
		"messages": []any{map[string]any{"id": sent.ID, "message_status": "accepted"}},
	})
}

// message is a request to send a template.
type message struct {
	Product     string `json:"messaging_product"`
	Recipient   string `json:"recipient_type"`
	To          string `json:"to"`
	Type        string `json:"type"`
	Ref         string `json:"biz_opaque_callback_data"`
	Interactive *struct {
		Type string `json:"type"`
		Body struct {
			Text string `json:"text"`
		} `json:"body"`
		Action struct {
			Buttons []struct {
				Type  string `json:"type"`
				Reply row    `json:"reply"`
			} `json:"buttons"`
			Button   string `json:"button"`
			Sections []struct {
				Rows []row `json:"rows"`
			} `json:"sections"`
		} `json:"action"`
	} `json:"interactive"`
	Text *struct {
		Body string `json:"body"`
	} `json:"text"`
	Template struct {
		Name     string `json:"name"`
		Language struct {
			Code string `json:"code"`
		} `json:"language"`
		Components []struct {
			Type       string `json:"type"`
			SubType    string `json:"sub_type"`
			Index      string `json:"index"`
			Parameters []struct {
				Type    string `json:"type"`
				Name    string `json:"parameter_name"`
				Text    string `json:"text"`
				Payload string `json:"payload"`
			} `json:"parameters"`
		} `json:"components"`
	} `json:"template"`
}

type row struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

var (
	digits    = regexp.MustCompile(`^[1-9][0-9]{7,14}$`)
	forbidden = regexp.MustCompile(`[\n\t]| {5}`)
)

// read returns the message of a request, or how it differs from the documentation.
func (c *Cloud) read(r *http.Request) (Sent, error) {
	var m message
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Sent{}, err
	}
	if m.Type == "interactive" && m.Interactive != nil {
		sent := Sent{To: "+" + m.To, Text: m.Interactive.Body.Text, Ref: m.Ref}
		rows := []row{}
		for _, b := range m.Interactive.Action.Buttons {
			rows = append(rows, b.Reply)
		}
		for _, s := range m.Interactive.Action.Sections {
			rows = append(rows, s.Rows...)
		}
		limit := map[string]int{"button": 3, "list": 10}[m.Interactive.Type]
		if len(rows) == 0 || len(rows) > limit || sent.Text == "" || len([]rune(sent.Text)) > 1024 || (m.Interactive.Type == "list") != (m.Interactive.Action.Button != "") {
			return Sent{}, fmt.Errorf("the interactive message %+v", m.Interactive)
		}
		for _, r := range rows {
			if r.ID == "" || len(r.ID) > 200 || r.Title == "" || len([]rune(r.Title)) > 20 {
				return Sent{}, fmt.Errorf("the button %+v", r)
			}
			sent.Buttons = append(sent.Buttons, r.ID)
		}
		return sent, nil
	}
	if m.Type == "text" && m.Text != nil {
		if m.Product != "whatsapp" || m.Recipient != "individual" || !digits.MatchString(m.To) || m.Text.Body == "" || len([]rune(m.Text.Body)) > 4096 {
			return Sent{}, fmt.Errorf("the text %+v", m)
		}
		return Sent{To: "+" + m.To, Text: m.Text.Body, Ref: m.Ref}, nil
	}
	t, known := c.templates[m.Template.Name+"."+m.Template.Language.Code]
	switch {
	case m.Product != "whatsapp" || m.Recipient != "individual" || m.Type != "template" || !digits.MatchString(m.To):
		return Sent{}, fmt.Errorf("product %s, recipient %s, type %s, to %s", m.Product, m.Recipient, m.Type, m.To)
	case len(m.Ref) > 512:
		return Sent{}, fmt.Errorf("biz_opaque_callback_data is too long")
	case !known:
		return Sent{}, fmt.Errorf("no template %s.%s", m.Template.Name, m.Template.Language.Code)
	case len(m.Template.Components) != 1+t.answers+len(t.urls):
		return Sent{}, fmt.Errorf("%d components for %d buttons", len(m.Template.Components), t.answers+len(t.urls))
	}
	sent := Sent{To: "+" + m.To, Template: m.Template.Name, Language: m.Template.Language.Code, Text: t.body, Ref: m.Ref}
	for i, component := range m.Template.Components {
		var names []string
		if i > 0 && i <= t.answers {
			if component.SubType != "quick_reply" || component.Index != fmt.Sprint(i-1) || len(component.Parameters) != 1 || component.Parameters[0].Type != "payload" || component.Parameters[0].Payload == "" {
				return Sent{}, fmt.Errorf("component %+v is not quick reply %d", component, i-1)
			}
			sent.Buttons = append(sent.Buttons, component.Parameters[0].Payload)
			continue
		}
		for _, p := range component.Parameters {
			if p.Type != "text" || p.Text == "" || forbidden.MatchString(p.Text) {
				return Sent{}, fmt.Errorf("parameter %+v", p)
			}
			names = append(names, p.Name)
			sent.Text = strings.ReplaceAll(sent.Text, "{{"+p.Name+"}}", p.Text)
		}
		switch {
		case i == 0 && (component.Type != "body" || !slices.Equal(names, t.variables)):
			return Sent{}, fmt.Errorf("component %s with variables %q, want a body with %q", component.Type, names, t.variables)
		case i == 0 && t.code:
			sent.Text = component.Parameters[0].Text
		case i > 0 && (component.Type != "button" || component.SubType != "url" || component.Index != fmt.Sprint(i-1) || len(names) != 1 || names[0] != ""):
			return Sent{}, fmt.Errorf("component %+v is not button %d", component, i-1)
		case i > 0 && t.code && component.Parameters[0].Text != sent.Text:
			return Sent{}, fmt.Errorf("the button copies another code")
		case i > 0 && !t.code:
			sent.Links = append(sent.Links, strings.ReplaceAll(t.urls[i-1-t.answers], "{{1}}", component.Parameters[0].Text))
		}
	}
	return sent, nil
}

// Status calls an address with a status of message n, counted from 0, signed with secret, and
// returns the response. code is an error code, or 0.
func (c *Cloud) Status(tb testing.TB, address string, n int, status string, code int, secret string) *http.Response {
	tb.Helper()
	m := c.Messages()[n]
	report := map[string]any{
		"id": m.ID, "status": status, "timestamp": "1767225600", "recipient_id": strings.TrimPrefix(m.To, "+"), "biz_opaque_callback_data": m.Ref,
		"pricing": map[string]any{"billable": true, "pricing_model": "PMP", "category": "utility", "type": "regular"},
	}
	if code != 0 {
		report["errors"] = []any{map[string]any{"code": code, "title": "Message undeliverable", "message": "Message undeliverable", "error_data": map[string]any{"details": "Message Undeliverable."}}}
	}
	return c.Post(tb, address, map[string]any{"statuses": []any{report}}, secret)
}

// Post calls an address with a change of the webhook field "messages", signed with secret.
func (c *Cloud) Post(tb testing.TB, address string, value map[string]any, secret string) *http.Response {
	tb.Helper()
	value["messaging_product"] = "whatsapp"
	value["metadata"] = map[string]any{"display_phone_number": "15550783881", "phone_number_id": c.PhoneID}
	body, err := json.Marshal(map[string]any{"object": "whatsapp_business_account", "entry": []any{map[string]any{
		"id": "102290129340398", "changes": []any{map[string]any{"field": "messages", "value": value}},
	}}})
	if err != nil {
		tb.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = res.Body.Close() })
	return res
}
