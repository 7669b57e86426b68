package sms_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
)

// sendError returns the SendError of an attempt. It fails the test if the error has a secret.
func sendError(t *testing.T, p sms.Provider, m sms.Message) *message.SendError {
	t.Helper()
	err := p.Send(t.Context(), m)
	failed, ok := errors.AsType[*message.SendError](err)
	if !ok {
		t.Fatalf("err = %v, want a SendError", err)
	}
	for _, secret := range []string{secretUser, strings.TrimPrefix(string(m.To), "+"), "424242"} {
		if strings.Contains(failed.Reason, secret) {
			t.Errorf("the error contains a secret: %s", failed.Reason)
		}
	}
	return failed
}

func TestTwilioRequest(t *testing.T) {
	t.Parallel()
	api := smstest.NewTwilio(t)
	for sender, field := range map[string]string{"+15005550006": "From", "ACADEMY": "From", "MG" + strings.Repeat("1", 32): "MessagingServiceSid"} {
		c := twilioConfig(api)
		c.Accounts[0].Sender = sender
		p, err := sms.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Send(t.Context(), newMessage(secretText)); err != nil {
			t.Fatal(err)
		}
		sent := api.Messages()
		want := url.Values{
			"To": {"+919876543210"}, "Body": {secretText}, field: {sender},
			"StatusCallback": {"https://t.example/receipts/0198c0de-0000-7000-8000-000000000001.1.twilio"},
		}
		if got := sent[len(sent)-1]; got.Encode() != want.Encode() {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// What Twilio refuses for good, and what an operator can correct.
func TestTwilioErrors(t *testing.T) {
	t.Parallel()
	api := smstest.NewTwilio(t)
	p, err := sms.New(twilioConfig(api))
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[int]message.SendError{
		21211: {Permanent: true, Cause: "unknown_number"},
		21614: {Permanent: true, Cause: "not_mobile"},
		21610: {Permanent: true, Cause: "opted_out"},
		21617: {Permanent: true},
		21408: {}, 21606: {}, 21612: {}, 30001: {Cause: "network"}, 99999: {},
	} {
		api.Refuse("+919876543210", code)
		if got := sendError(t, p, newMessage(secretText)); got.Permanent != want.Permanent || got.Cause != want.Cause || got.Outage {
			t.Errorf("error %d: got %+v, want %+v", code, got, want)
		}
	}
	c := twilioConfig(api)
	c.Accounts[0].Password = "wrong"
	wrong, err := sms.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := sendError(t, wrong, newMessage(secretText)); got.Permanent || !got.Outage {
		t.Errorf("wrong token: got %+v, want an outage", got)
	}
}

// An API that responds something else does not count as accepted.
func TestBrokenAPIs(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(url string) sms.Config{
		"twilio": func(url string) sms.Config {
			return sms.Config{Accounts: []sms.Account{{Kind: "twilio", URL: url, User: "AC1", Password: secretUser, Sender: "X"}}, ReceiptURL: receiptURL}
		},
		"msg91": func(url string) sms.Config {
			return sms.Config{
				Accounts: []sms.Account{{Kind: "msg91", URL: url, User: secretUser}}, ReceiptSecret: receiptURL,
				MSG91Templates: map[string]sms.MSG91Template{"test.en": {ID: "1", RegistryID: "2"}},
			}
		},
	} {
		for _, tt := range []struct {
			status int
			body   string
			outage bool
		}{
			{200, "OK", name == "msg91"},
			{200, "{}", name == "msg91"},
			{201, "<html>sign in</html>", name == "twilio"},
			{201, "", name == "twilio"},
			{201, `{"sid":"SM1","error_code":30001}`, name == "twilio"},
			{200, `{"type":"success"}`, name == "msg91"},
			{302, "", false},
			{429, `{"code":20429}`, true},
			{500, `{"code":` + strings.Repeat("9", 400) + "}", true},
			{503, "", true},
			{404, "", false},
		} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			p, err := sms.New(open(s.URL))
			if err != nil {
				t.Fatal(err)
			}
			got := sendError(t, p, newMessage(secretText))
			if got.Permanent || got.Outage != tt.outage || tt.status >= 400 && got.Wait != 7*time.Second {
				t.Errorf("%s, %d %q: got %+v, want temporary, outage = %t", name, tt.status, tt.body, got, tt.outage)
			}
			s.Close()
		}
	}
}

// twilioCall returns a signed call of Twilio to an address.
func twilioCall(address, signedAddress, token string, form url.Values) message.ProviderCall {
	return message.ProviderCall{URL: address, Form: form, Header: func(name string) string {
		if name != "X-Twilio-Signature" {
			return ""
		}
		return smstest.TwilioSignature(token, signedAddress, form)
	}}
}

func TestTwilioReceipt(t *testing.T) {
	t.Parallel()
	const address = "https://t.example/receipts/1.2.twilio/secret?a=b"
	read := sms.ReceiptReaders(sms.Config{Accounts: []sms.Account{{Kind: "twilio", Password: "first"}, {Kind: "twilio", Password: "token"}}})["twilio"]
	for _, tt := range []struct {
		status, code string
		want         message.Receipt // "" if nothing final
		cause        message.Cause
	}{
		{"delivered", "", message.ReceiptDelivered, ""},
		{"undelivered", "30003", message.ReceiptUnreachable, "phone_off"},
		{"undelivered", "30005", message.ReceiptUndeliverable, "unknown_number"},
		{"undelivered", "30006", message.ReceiptUndeliverable, "not_mobile"},
		{"undelivered", "30004", message.ReceiptUndeliverable, "blocked"},
		{"undelivered", "30007", message.ReceiptUnreachable, "filtered"},
		{"failed", "30008", message.ReceiptUnreachable, "network"},
		{"failed", "99999", message.ReceiptUnreachable, "network"},
		{"failed", "", message.ReceiptUnreachable, "network"},
		{"failed", "x", message.ReceiptUnreachable, "network"},
		{"sent", "", "", ""},
		{"queued", "", "", ""},
		{"", "", "", ""},
	} {
		form := url.Values{"MessageStatus": {tt.status}, "ErrorCode": {tt.code}, "To": {"+919876543210"}}
		got, final, ok := read(twilioCall(address, address, "token", form))
		if got.Receipt != tt.want || got.Cause != tt.cause || final != (tt.want != "") || !ok || strings.Contains(got.NetworkSays, "98765") {
			t.Errorf("%s %s: got %+v, %t, %t; want %q, %q", tt.status, tt.code, got, final, ok, tt.want, tt.cause)
		}
	}
	form := url.Values{"MessageStatus": {"delivered"}}
	for name, call := range map[string]message.ProviderCall{
		"another token":   twilioCall(address, address, "other", form),
		"another address": twilioCall(address, "https://t.example/receipts/1.3.twilio/secret?a=b", "token", form),
		"another form":    {URL: address, Form: url.Values{"MessageStatus": {"failed"}}, Header: twilioCall(address, address, "token", form).Header},
		"no signature":    {URL: address, Form: form, Header: func(string) string { return "" }},
	} {
		if got, final, ok := read(call); ok || final {
			t.Errorf("%s: got %+v, want a call that is not from Twilio", name, got)
		}
	}
	for _, signed := range []string{"https://t.example:443/receipts/1.2.twilio/secret?a=b", address} {
		if _, _, ok := read(twilioCall(address, signed, "token", form)); !ok {
			t.Errorf("signed %s: refused", signed)
		}
	}
	withPort := strings.Replace(address, "t.example", "t.example:8443", 1)
	for _, signed := range []string{withPort, address} {
		if _, _, ok := read(twilioCall(withPort, signed, "token", form)); !ok {
			t.Errorf("signed %s, called %s: refused", signed, withPort)
		}
	}
}

// The example of Twilio's Go library (client/request_validator_test.go, v1.31.0).
func TestTwilioSignature(t *testing.T) {
	t.Parallel()
	read := sms.ReceiptReaders(sms.Config{Accounts: []sms.Account{{Kind: "twilio", Password: "12345"}}})["twilio"]
	call := message.ProviderCall{
		URL: "https://mycompany.com/myapp.php?foo=1&bar=2",
		Form: url.Values{
			"Digits": {"1234"}, "CallSid": {"CA1234567890ABCDE"}, "To": {"+18005551212"}, "Caller": {"+14158675309"}, "From": {"+14158675309"},
			"ReasonConferenceEnded": {"test"}, "Reason": {"Participant"},
		},
		Header: func(string) string { return "vOEb5UThFn24KEfnOFLQY2AE5FY=" },
	}
	if _, _, ok := read(call); !ok {
		t.Error("the example is refused")
	}
	if got := smstest.TwilioSignature("12345", call.URL, call.Form); got != "vOEb5UThFn24KEfnOFLQY2AE5FY=" {
		t.Errorf("smstest.TwilioSignature = %s", got)
	}
}
