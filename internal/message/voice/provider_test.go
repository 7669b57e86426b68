package voice_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/message/voice"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	stepURL = "https://t.example/calls/1.3.twilio_voice/secret"
	token   = "S3NT1NEL"
)

func configOf(a sms.Account, accepted func(id, providerID string)) voice.Config {
	at := func(path string) func(message.MessageRef) string {
		return func(ref message.MessageRef) string {
			return "https://t.example/" + path + "/" + ref.String() + "/secret"
		}
	}
	return voice.Config{Account: a, CallURL: at("calls"), ReceiptURL: at("receipts"), Accepted: func(_ context.Context, id, providerID string) error {
		accepted(id, providerID)
		return nil
	}}
}

func newProvider(t testing.TB, a sms.Account) voice.Provider {
	t.Helper()
	p, err := voice.New(configOf(a, func(string, string) {}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func twilioAccount(address string) sms.Account {
	return sms.Account{Kind: "twilio", URL: address, User: "AC" + strings.Repeat("0a", 16), Password: token, Sender: "+15005550006"}
}

// TestTwilioCall: Twilio gets the number and the addresses, and neither the code nor a text. The SID of the
// call is kept. What Twilio refuses for good is permanent.
func TestTwilioCall(t *testing.T) {
	api := smstest.NewTwilio(t)
	var kept []string
	p, err := voice.New(configOf(twilioAccount(api.URL()), func(id, providerID string) { kept = append(kept, id, providerID) }))
	if err != nil {
		t.Fatal(err)
	}
	m := otp("hi")
	m.TotalAttempts = 3
	s := voice.NewSender(p, noTestNumber)
	if err := s.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	want := url.Values{"To": {"+919876543210"}, "From": {"+15005550006"}, "Url": {stepURL}, "StatusCallback": {"https://t.example/receipts/1.3.twilio_voice/secret"}}
	if got := api.Calls(); len(got) != 1 || got[0].Encode() != want.Encode() {
		t.Errorf("got %v, want %v", got, want)
	}
	if want := []string{"1", "CA" + strings.Repeat("0", 31) + "1"}; !slices.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
	for code, permanent := range map[int]bool{21211: true, 21214: true, 21217: true, 21215: false, 99999: false} {
		api.Refuse("+919876543210", code)
		failed, ok := errors.AsType[*message.SendError](s.Send(t.Context(), m))
		if !ok || failed.Permanent != permanent || strings.Contains(failed.Error(), "987") {
			t.Errorf("%d: %+v, want permanent %t", code, failed, permanent)
		}
	}
}

func twilioCall(address, key string, form url.Values) message.ProviderCall {
	_, query, _ := strings.Cut(address, "?")
	parsed, _ := url.ParseQuery(query)
	return message.ProviderCall{URL: address, Query: parsed, Form: form, Header: func(name string) string {
		if name != "X-Twilio-Signature" {
			return ""
		}
		return smstest.TwilioSignature(key, address, form)
	}}
}

// TestTwiML: what is said is escaped, and keys go to the address with the state.
func TestTwiML(t *testing.T) {
	p := newProvider(t, twilioAccount("https://api.twilio.com"))
	const hostile = `"</Say><Dial>+1900</Dial>&<!--` + "\x00\x1b" + `]]>'`
	for _, tt := range []struct {
		prompt       voice.Prompt
		action, lang string
	}{
		{voice.Prompt{Language: "en", Lines: []string{hostile, "Goodbye."}}, "", "en-IN"},
		{voice.Prompt{Language: "hi", Lines: []string{hostile}, Keys: "19", State: "sure:1764170000 &x=\"1"}, stepURL + "?state=sure%3A1764170000+%26x%3D%221", "hi-IN"},
		{voice.Prompt{Language: "xx", Lines: []string{"A"}}, "", "en-IN"},
	} {
		mediaType, body, err := p.Render(tt.prompt, stepURL)
		if err != nil || mediaType != "text/xml; charset=utf-8" {
			t.Fatalf("%s, %v", mediaType, err)
		}
		got := smstest.ParseTwiML(t, body)
		if got.Action != tt.action || got.Language != tt.lang || len(got.Said) != len(tt.prompt.Lines) {
			t.Errorf("%s: got %+v", body, got)
		}
		if want := strings.NewReplacer("\x00", "\uFFFD", "\x1b", "\uFFFD").Replace(tt.prompt.Lines[0]); got.Said[0] != want {
			t.Errorf("said %q, want %q", got.Said[0], want)
		}
		if ends := strings.Contains(string(body), "<Hangup>"); ends != (tt.prompt.Keys == "") {
			t.Errorf("%s: hangs up: %t", body, ends)
		}
		if tt.action != "" {
			step, ok := p.ReadStep(twilioCall(got.Action, token, url.Values{"Digits": {"1"}}))
			if !ok || step != (voice.Step{State: tt.prompt.State, Key: "1"}) {
				t.Errorf("the next step is %+v, %t", step, ok)
			}
		}
	}
}

// TestTwilioSignatures: a call of Twilio counts only with its signature over the address and the form.
func TestTwilioSignatures(t *testing.T) {
	p := newProvider(t, twilioAccount("https://api.twilio.com"))
	const address = stepURL + "?state=otp.en"
	form := url.Values{"Digits": {"1"}, "CallStatus": {"busy"}}
	genuine := twilioCall(address, token, form)
	for name, tt := range map[string]struct {
		call message.ProviderCall
		ok   bool
	}{
		"genuine":        {genuine, true},
		"another token":  {twilioCall(address, "other", form), false},
		"another state":  {message.ProviderCall{URL: stepURL + "?state=otp2.en", Form: form, Header: genuine.Header}, false},
		"another key":    {message.ProviderCall{URL: address, Form: url.Values{"Digits": {"2"}, "CallStatus": {"busy"}}, Header: genuine.Header}, false},
		"no signature":   {message.ProviderCall{URL: address, Form: form, Header: func(string) string { return "" }}, false},
		"another call":   {message.ProviderCall{URL: strings.Replace(address, "/1.3.", "/2.3.", 1), Form: form, Header: genuine.Header}, false},
		"an added field": {message.ProviderCall{URL: address, Form: url.Values{"Digits": {"1"}, "CallStatus": {"busy"}, "X": {"1"}}, Header: genuine.Header}, false},
	} {
		_, ok := p.ReadStep(tt.call)
		_, final, receiptOK := p.ReadReceipt(tt.call)
		if ok != tt.ok || receiptOK != tt.ok || final != tt.ok {
			t.Errorf("%s: step %t, receipt %t, final %t; want %t", name, ok, receiptOK, final, tt.ok)
		}
	}
}

// TestCallStatuses: the statuses of Twilio, and of a gateway, as receipts. A connection alone is no person.
func TestCallStatuses(t *testing.T) {
	twilio := newProvider(t, twilioAccount("https://api.twilio.com"))
	gateway := newProvider(t, sms.Account{Kind: "http", URL: "https://me:" + token + "@g.example"})
	for _, tt := range []struct {
		status, sip string
		want        message.Receipt // "" if nothing final
		cause       message.Cause
	}{
		{"queued", "", "", ""},
		{"initiated", "", "", ""},
		{"ringing", "", "", ""},
		{"in-progress", "", "", ""},
		{"answered", "", "", ""},
		{"completed", "200", message.ReceiptUnreachable, message.CauseNoKey},
		{"no-answer", "", message.ReceiptUnreachable, message.CauseNoAnswer},
		{"canceled", "", message.ReceiptUnreachable, message.CauseNoAnswer},
		{"busy", "486", message.ReceiptUnreachable, message.CauseBusy},
		{"failed", "404", message.ReceiptUndeliverable, message.CauseNoCall},
		{"failed", "", message.ReceiptUndeliverable, message.CauseNoCall},
		{"failed", "x", message.ReceiptUndeliverable, message.CauseNoCall},
		{"failed", "503", message.ReceiptUnreachable, message.CauseNetwork},
		{"failed", "408", message.ReceiptUnreachable, message.CauseNetwork},
		{"", "", "", ""},
		{"COMPLETED", "", "", ""},
	} {
		form := url.Values{"CallStatus": {tt.status}, "SipResponseCode": {tt.sip}, "To": {"+919876543210"}, "AnsweredBy": {"human"}}
		got, final, ok := twilio.ReadReceipt(twilioCall("https://t.example/receipts/1.3.twilio_voice/secret", token, form))
		if got.Receipt != tt.want || got.Cause != tt.cause || final != (tt.want != "") || !ok || strings.Contains(got.NetworkSays, "98765") {
			t.Errorf("%s %s: got %+v, %t, %t", tt.status, tt.sip, got, final, ok)
		}
		if tt.sip != "" {
			continue
		}
		body, _ := json.Marshal(map[string]string{"id": "1", "status": tt.status})
		got, final, ok = gateway.ReadReceipt(gatewayCall("https://t.example/receipts/1.3.http_voice/secret", body))
		if got.Receipt != tt.want || got.Cause != tt.cause || final != (tt.want != "") || !ok {
			t.Errorf("gateway, %s: got %+v, %t, %t", tt.status, got, final, ok)
		}
	}
}

func gatewayCall(address string, body []byte) message.ProviderCall {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write(body)
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return message.ProviderCall{URL: address, Body: body, Header: func(name string) string {
		if name != "X-Signature-256" {
			return ""
		}
		return signature
	}}
}

// TestGateway: a gateway gets the number and the addresses, and neither the code nor a text. Its status
// decides as for SMS.
func TestGateway(t *testing.T) {
	status := http.StatusAccepted
	var got map[string]string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if user, password, _ := r.BasicAuth(); user != "me" || password != token || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got %s, %s and %q", user, password, r.Header.Get("Content-Type"))
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	p := newProvider(t, sms.Account{Kind: "http", URL: strings.Replace(server.URL, "://", "://me:"+token+"@", 1)})
	s := voice.NewSender(p, noTestNumber)
	m := otp("hi")
	m.TotalAttempts = 3
	if err := s.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	const ref = "/1.3.http_voice/secret"
	if len(got) != 5 || got["id"] != "1" || got["to"] != "+919876543210" || got["kind"] != "otp" || got["step_url"] != "https://t.example/calls"+ref || got["status_url"] != "https://t.example/receipts"+ref {
		t.Errorf("the gateway got %v", got)
	}
	for code, permanent := range map[int]bool{422: true, 503: false} {
		status = code
		failed, ok := errors.AsType[*message.SendError](s.Send(t.Context(), m))
		if !ok || failed.Permanent != permanent || strings.Contains(failed.Error(), "987") {
			t.Errorf("%d: %+v, want permanent %t", code, failed, permanent)
		}
	}
	const address = "https://t.example/calls" + ref
	for body, want := range map[string]bool{
		`{"id": "1", "state": "otp.en", "key": "1"}`:            true,
		`{"id": "1", "state": "otp.en", "key": "1", "more": 1}`: true,
		`{"id": "2", "state": "otp.en", "key": "1"}`:            false,
		`{"state": "otp.en", "key": "1"}`:                       false,
		`{"id": "1", "key": 1}`:                                 false,
		`not JSON`:                                              false,
		``:                                                      false,
	} {
		step, ok := p.ReadStep(gatewayCall(address, []byte(body)))
		if ok != want || ok && step != (voice.Step{State: "otp.en", Key: "1"}) {
			t.Errorf("%s: got %+v, %t", body, step, ok)
		}
	}
	call := gatewayCall(address, []byte(`{"id": "1"}`))
	call.Body = []byte(`{"id": "1", "key": "1"}`)
	if _, ok := p.ReadStep(call); ok {
		t.Error("a body with the signature of another one counts")
	}
	withoutPassword := newProvider(t, sms.Account{Kind: "http", URL: "https://g.example"})
	mac := hmac.New(sha256.New, nil)
	mac.Write([]byte(`{"id": "1"}`))
	if _, ok := withoutPassword.ReadStep(message.ProviderCall{URL: address, Body: []byte(`{"id": "1"}`), Header: func(string) string { return "sha256=" + hex.EncodeToString(mac.Sum(nil)) }}); ok {
		t.Error("a call signed with no password counts")
	}
	mediaType, body, err := p.Render(voice.Prompt{Lines: []string{`<b>"`}, Keys: "1", State: "s"}, "")
	if want := `{"lines":["<b>\""],"language":"en","keys":"1","state":"s"}` + "\n"; err != nil || mediaType != "application/json" || string(body) != want {
		t.Errorf("got %s %s %v, want %s", mediaType, body, err, want)
	}
}

// TestOTPSteps: the code is said after key 1 alone, and the call asks for the key twice.
func TestOTPSteps(t *testing.T) {
	m := otp("hi")
	first := message.AnswerOTPCall(m, true, "", "")
	again := message.AnswerOTPCall(m, true, first.State, "")
	for name, tt := range map[string]struct {
		got        voice.Prompt
		keys, says string
	}{
		"first":              {first, "1", "1 दबाएँ"},
		"no key":             {again, "1", "1 दबाएँ"},
		"another key":        {message.AnswerOTPCall(m, true, first.State, "9"), "1", "1 दबाएँ"},
		"a state from aside": {message.AnswerOTPCall(m, true, "ask", "1"), "1", "1 दबाएँ"},
		"key":                {message.AnswerOTPCall(m, true, first.State, "1"), "", "शून्य। चार। आठ। एक।"},
		"key later":          {message.AnswerOTPCall(m, true, again.State, "1"), "", "शून्य। चार। आठ। एक।"},
		"no key again":       {message.AnswerOTPCall(m, true, again.State, ""), "", "कोई बटन नहीं दबा"},
		"too late":           {message.AnswerOTPCall(message.Message{}, false, first.State, "1"), "", "अब काम नहीं करता"},
		"unknown":            {message.AnswerOTPCall(message.Message{}, false, "", ""), "", "no longer works"},
	} {
		text := strings.Join(tt.got.Lines, " ")
		if tt.got.Keys != tt.keys || !strings.Contains(text, tt.says) || strings.Contains(text, "शून्य") != strings.Contains(tt.says, "शून्य") {
			t.Errorf("%s: got %+v", name, tt.got)
		}
	}
}

// calls returns Calls that answer with the step, and the reports that they record.
func calls(p voice.Provider) (*voice.Calls, *[]message.Report) {
	var recorded []message.Report
	return &voice.Calls{
		Provider: p, Valid: func(_, secret string) bool { return secret == "secret" },
		Answer: func(_ context.Context, id string, s voice.Step) (voice.Prompt, error) {
			return voice.Prompt{Lines: []string{id, s.State, s.Key}}, nil
		},
		Record: func(_ context.Context, _ message.MessageRef, r message.Report) error {
			recorded = append(recorded, r)
			return nil
		},
	}, &recorded
}

// TestSteps: only a key that a person can press counts, and it makes the call delivered. A forged call
// reaches nothing.
func TestSteps(t *testing.T) {
	c, recorded := calls(newProvider(t, twilioAccount("https://api.twilio.com")))
	const ref = "1.3.twilio_voice"
	for _, tt := range []struct {
		state, digits, key string
	}{
		{"", "", ""},
		{"", "1", ""}, // a key before the first prompt
		{"ask", "", ""},
		{"ask", "1", "1"},
		{"ask", "#", "#"},
		{"ask", "12", ""},
		{"ask", "x", ""},
		{"ask", "१", ""},
	} {
		*recorded = nil
		_, body, err := c.Receive(t.Context(), ref, "secret", twilioCall(stepURL+"?state="+tt.state, token, url.Values{"Digits": {tt.digits}}))
		if err != nil {
			t.Fatal(err)
		}
		if got := smstest.ParseTwiML(t, body).Said; !slices.Equal(got, []string{"1", tt.state, tt.key}) || len(*recorded) != len(tt.key) {
			t.Errorf("%+v: got %q, recorded %+v", tt, got, *recorded)
		}
		if tt.key != "" && (*recorded)[0].Receipt != message.ReceiptDelivered {
			t.Errorf("recorded %+v", *recorded)
		}
	}
	for name, forged := range map[string]struct {
		ref, secret string
		call        message.ProviderCall
	}{
		"secret":    {ref, "other", twilioCall(stepURL, token, nil)},
		"signature": {ref, "secret", twilioCall(stepURL, "other", nil)},
		"provider":  {"1.3.twilio", "secret", twilioCall(stepURL, token, nil)},
		"reference": {"1.03.twilio_voice", "secret", twilioCall(stepURL, token, nil)},
	} {
		if _, _, err := c.Receive(t.Context(), forged.ref, forged.secret, forged.call); fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("%s: err = %v, want token_invalid", name, err)
		}
	}
}

// FuzzSteps: no body, query or header of a stranger is a step, and each signed one has a response that its
// provider can read.
func FuzzSteps(f *testing.F) {
	f.Add("state=otp.en", "Digits=1", "sha256=00")
	f.Add("state=%zz&state=sure:1", `{"id": "1", "state": "<&\u0000", "key": "1"}`, "")
	f.Fuzz(func(t *testing.T, query, body, signature string) {
		parsed, _ := url.ParseQuery(query)
		form, _ := url.ParseQuery(body)
		call := message.ProviderCall{URL: stepURL + "?" + query, Query: parsed, Form: form, Body: []byte(body), Header: func(string) string { return signature }}
		for _, a := range []sms.Account{twilioAccount("https://api.twilio.com"), {Kind: "http", URL: "https://me:" + token + "@g.example"}} {
			p := newProvider(t, a)
			c, _ := calls(p)
			if _, ok := p.ReadStep(call); ok {
				t.Fatalf("%s: a stranger's call is a step", p.Name())
			}
			signed := call
			signed.Header = gatewayCall(call.URL, call.Body).Header
			if a.Kind == "twilio" {
				signed.Header = twilioCall(call.URL, token, form).Header
			}
			_, response, err := c.Receive(t.Context(), "1.3."+p.Name(), "secret", signed)
			switch {
			case fault.KindOf(err) == fault.Unauthenticated:
			case err != nil:
				t.Fatal(err)
			case a.Kind == "http" && !json.Valid(response):
				t.Fatalf("%s is no JSON", response)
			case a.Kind == "twilio":
				smstest.ParseTwiML(t, response)
			}
		}
	})
}
