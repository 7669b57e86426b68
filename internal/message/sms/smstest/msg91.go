package smstest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// MSG91 simulates the flow interface of MSG91's API, for tests.
type MSG91 struct {
	Key, Header, EntityID string
	// Templates are the texts of the templates by their id, with variables as ##name##.
	Templates map[string]string

	server *httptest.Server

	mu       sync.Mutex
	errors   map[string]string
	messages []MSG91Message
	faults   []string
}

// MSG91Message is an accepted message.
type MSG91Message struct {
	To, Text, CRQID, RegistryID string
}

// NewMSG91 starts an MSG91. The test fails if a request breaks MSG91's documentation.
func NewMSG91(tb testing.TB) *MSG91 {
	tb.Helper()
	m := &MSG91{Key: "S3NT1NEL", Header: "TLINES", EntityID: "1201159100000012345", Templates: map[string]string{}, errors: map[string]string{}}
	m.server = httptest.NewServer(http.HandlerFunc(m.serve))
	tb.Cleanup(func() {
		m.server.Close()
		for _, fault := range m.faults {
			tb.Errorf("invalid request to MSG91: %s", fault)
		}
	})
	return m
}

// Spec returns the entry of TOUCHLINE_SMS.
func (m *MSG91) Spec() string {
	return "msg91:" + strings.Replace(m.server.URL, "://", "://"+m.Key+"@", 1) + "?header=" + m.Header + "&entity_id=" + m.EntityID
}

// URL returns the address of the API.
func (m *MSG91) URL() string { return m.server.URL }

// Refuse makes MSG91 refuse messages to a number with an error code.
func (m *MSG91) Refuse(to, code string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.errors[to] = code
}

// Messages returns the accepted messages.
func (m *MSG91) Messages() []MSG91Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.messages)
}

func (m *MSG91) serve(w http.ResponseWriter, r *http.Request) {
	respond := func(kind, message, code string) {
		w.Header().Set("Content-Type", "application/json")
		body := map[string]string{"type": kind, "message": message}
		if code != "" {
			body["code"] = code
		}
		_ = json.NewEncoder(w).Encode(body) // 200, also for errors
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Header.Get("authkey") != m.Key {
		respond("error", "Authentication failure", "207")
		return
	}
	message, fault := m.check(r)
	if fault != "" {
		m.faults = append(m.faults, fault)
		respond("error", fault, "400")
		return
	}
	if code := m.errors[message.To]; code != "" {
		respond("error", "Invalid mobile number", code)
		return
	}
	m.messages = append(m.messages, message)
	respond("success", fmt.Sprintf("%024x", len(m.messages)), "")
}

var (
	msg91Number   = regexp.MustCompile(`^[1-9][0-9]{6,14}$`)
	msg91Variable = regexp.MustCompile(`##([a-z_]+)##`)
	msg91CRQID    = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,80}$`)
)

// check returns the message of a request as MSG91 sends it. fault describes how the request
// differs from MSG91's documentation.
func (m *MSG91) check(r *http.Request) (message MSG91Message, fault string) {
	var flow struct {
		TemplateID string              `json:"template_id"`
		Sender     string              `json:"sender"`
		ShortURL   string              `json:"short_url"`
		EntityID   string              `json:"PE_ID"`
		RegistryID string              `json:"DLT_TE_ID"`
		CRQID      string              `json:"CRQID"`
		Recipients []map[string]string `json:"recipients"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&flow)
	text, known := m.Templates[flow.TemplateID]
	switch {
	case r.Method != http.MethodPost || strings.TrimSuffix(r.URL.Path, "/") != "/api/v5/flow":
		return message, r.Method + " " + r.URL.Path
	case r.Header.Get("Content-Type") != "application/json" || err != nil:
		return message, "no JSON"
	case !known:
		return message, "template_id missing or invalid"
	case flow.Sender != m.Header || flow.EntityID != m.EntityID || flow.RegistryID == "":
		return message, "header, entity or DLT template id is wrong"
	case flow.ShortURL != "0":
		return message, "short_url would change the links"
	case len(flow.Recipients) != 1 || !msg91Number.MatchString(flow.Recipients[0]["mobiles"]):
		return message, "recipients[0].mobiles is not a number in international format"
	case !msg91CRQID.MatchString(flow.CRQID) || flow.Recipients[0]["CRQID"] != flow.CRQID:
		return message, "CRQID has other characters, or more than 80"
	}
	for _, v := range msg91Variable.FindAllStringSubmatch(text, -1) {
		value := flow.Recipients[0][v[1]]
		if value == "" {
			return message, "no value of " + v[1]
		}
		text = strings.ReplaceAll(text, v[0], value)
	}
	return MSG91Message{To: "+" + flow.Recipients[0]["mobiles"], Text: text, CRQID: flow.CRQID, RegistryID: flow.RegistryID}, ""
}

// Report posts a delivery report to an address in the form of a version of MSG91's webhook, 2
// or 3, and returns the response.
func (m *MSG91) Report(tb testing.TB, address string, version int, crqid, status, desc string) *http.Response {
	tb.Helper()
	report := map[string]string{"date": "2026-11-22 10:06:20", "number": "919876543210", "CRQID": crqid, "INMSID": "0", "credit": "1", "status": status, "desc": desc, "failedReason": ""}
	contentType, body := "application/json", ""
	if version == 2 {
		data, _ := json.Marshal([]any{map[string]any{"senderId": m.Header, "requestId": "1", "report": []any{report}, "userId": "1", "campaignName": "API"}})
		contentType, body = "application/x-www-form-urlencoded", url.Values{"data": {string(data)}}.Encode()
	} else {
		data, _ := json.Marshal(report)
		body = string(data)
	}
	res, err := http.Post(address, contentType, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res
}
