package smstest

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio signs with HMAC-SHA1
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Twilio simulates the Messages and Calls resources of Twilio's API, for tests. It refuses what Twilio
// refuses (https://www.twilio.com/docs/messaging/api/message-resource, https://www.twilio.com/docs/voice/api/call-resource).
type Twilio struct {
	// SID, Token and Sender belong to the account.
	SID, Token, Sender string

	server *httptest.Server

	mu          sync.Mutex
	unavailable bool
	errors      map[string]int
	messages    []url.Values
	calls       []url.Values
	faults      []string
}

// NewTwilio starts a Twilio. The test fails if a request breaks Twilio's documentation.
func NewTwilio(tb testing.TB) *Twilio {
	tb.Helper()
	t := &Twilio{SID: "AC" + strings.Repeat("0a", 16), Token: "S3NT1NEL", Sender: "+15005550006", errors: map[string]int{}}
	t.server = httptest.NewServer(http.HandlerFunc(t.serve))
	tb.Cleanup(func() {
		t.server.Close()
		for _, fault := range t.faults {
			tb.Errorf("invalid request to Twilio: %s", fault)
		}
	})
	return t
}

// URL returns the address of the API.
func (t *Twilio) URL() string { return t.server.URL }

// Spec returns the entry of TOUCHLINE_SMS.
func (t *Twilio) Spec() string {
	return "twilio:" + strings.Replace(t.server.URL, "://", "://"+t.SID+":"+t.Token+"@", 1) + "?from=" + t.Sender
}

// Refuse makes Twilio refuse messages to a number with an error code.
func (t *Twilio) Refuse(to string, code int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errors[to] = code
}

// SetUnavailable says whether Twilio responds 503 to all messages.
func (t *Twilio) SetUnavailable(unavailable bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unavailable = unavailable
}

// Messages returns the forms of the accepted messages.
func (t *Twilio) Messages() []url.Values {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.messages)
}

func (t *Twilio) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fail := func(status, code int, message string) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "message": message, "more_info": fmt.Sprintf("https://www.twilio.com/docs/errors/%d", code), "status": status})
	}
	if user, token, _ := r.BasicAuth(); user != t.SID || token != t.Token {
		fail(http.StatusUnauthorized, 20003, "Authenticate")
		return
	}
	if r.Method == http.MethodGet && r.URL.Path == "/2010-04-01/Accounts/"+t.SID+".json" {
		_ = json.NewEncoder(w).Encode(map[string]any{"sid": t.SID, "status": "active", "type": "Full"})
		return
	}
	form, fault := t.check(r)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unavailable {
		fail(http.StatusServiceUnavailable, 20503, "Service unavailable")
		return
	}
	if fault != "" {
		t.faults = append(t.faults, fault)
		fail(http.StatusBadRequest, 21604, fault)
		return
	}
	if code := t.errors[form.Get("To")]; code != 0 {
		fail(http.StatusBadRequest, code, "refused to "+form.Get("To"))
		return
	}
	if path.Base(r.URL.Path) == "Calls.json" {
		t.calls = append(t.calls, form)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"sid": callSID(len(t.calls) - 1), "account_sid": t.SID, "to": form.Get("To"), "status": "queued", "direction": "outbound-api", "uri": r.URL.Path,
		})
		return
	}
	t.messages = append(t.messages, form)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"sid": t.sid(len(t.messages) - 1), "account_sid": t.SID, "to": form.Get("To"), "status": "queued", "error_code": nil, "error_message": nil,
		"num_segments": "1", "direction": "outbound-api", "uri": r.URL.Path,
	})
}

func (t *Twilio) sid(n int) string { return fmt.Sprintf("SM%032x", n+1) }

// check returns the form of a request. fault describes how it differs from Twilio's
// documentation.
func (t *Twilio) check(r *http.Request) (form url.Values, fault string) {
	body, _ := io.ReadAll(r.Body)
	form, err := url.ParseQuery(string(body))
	callback, _ := url.Parse(form.Get("StatusCallback"))
	if r.URL.Path == "/2010-04-01/Accounts/"+t.SID+"/Calls.json" {
		return form, checkCall(form)
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/2010-04-01/Accounts/"+t.SID+"/Messages.json":
		return form, r.Method + " " + r.URL.Path
	case r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || err != nil:
		return form, "no form"
	case !e164.MatchString(form.Get("To")):
		return form, "To is not an E.164 number"
	case form.Get("Body") == "" || utf8.RuneCountInString(form.Get("Body")) > 1600:
		return form, "Body has no text or more than 1600 characters"
	case form.Has("From") == form.Has("MessagingServiceSid"):
		return form, "neither or both of From and MessagingServiceSid"
	case form.Has("MessagingServiceSid") && !strings.HasPrefix(form.Get("MessagingServiceSid"), "MG"):
		return form, "MessagingServiceSid is not one"
	case callback == nil || callback.Scheme != "http" && callback.Scheme != "https" || callback.Host == "":
		return form, "StatusCallback is not a URL"
	}
	return form, ""
}

// Callback calls the StatusCallback of the nth message as Twilio does, and returns the
// response. code is an error code, or 0. With another token the signature is wrong.
func (t *Twilio) Callback(tb testing.TB, n int, status string, code int, token string) *http.Response {
	tb.Helper()
	m := t.Messages()[n]
	form := url.Values{
		"MessageSid": {t.sid(n)}, "SmsSid": {t.sid(n)}, "AccountSid": {t.SID}, "MessageStatus": {status}, "SmsStatus": {status},
		"To": {m.Get("To")}, "From": {t.Sender}, "ApiVersion": {"2010-04-01"},
	}
	if code != 0 {
		form.Set("ErrorCode", fmt.Sprint(code))
	}
	return t.Post(tb, m.Get("StatusCallback"), form, token)
}

// Post posts a form to an address, signed with a token as Twilio does.
func (t *Twilio) Post(tb testing.TB, address string, form url.Values, token string) *http.Response {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	req.Header.Set("X-Twilio-Signature", TwilioSignature(token, address, form))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// TwilioSignature returns the signature of a call of Twilio
// (https://www.twilio.com/docs/usage/security#validating-requests).
func TwilioSignature(token, address string, form url.Values) string {
	signed := address
	for _, name := range slices.Sorted(maps.Keys(form)) {
		signed += name + form.Get(name)
	}
	mac := hmac.New(sha1.New, []byte(token))
	mac.Write([]byte(signed))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
