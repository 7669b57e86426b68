package smstest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Calls returns the forms of the accepted calls.
func (t *Twilio) Calls() []url.Values {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

func callSID(n int) string { return fmt.Sprintf("CA%032x", n+1) }

// checkCall returns how the form of a call differs from Twilio's documentation.
func checkCall(form url.Values) string {
	known := []string{"To", "From", "Url", "StatusCallback"}
	for name := range form {
		if !slices.Contains(known, name) {
			return name + " is not expected"
		}
	}
	for _, name := range []string{"Url", "StatusCallback"} {
		if u, err := url.Parse(form.Get(name)); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return name + " is not a URL"
		}
	}
	if !e164.MatchString(form.Get("To")) || !e164.MatchString(form.Get("From")) {
		return "To or From is not an E.164 number"
	}
	return ""
}

// TwiML is what Twilio does after a step of a call.
type TwiML struct {
	// Said are the texts of Say, Language is their language.
	Said     []string
	Language string
	// Action is where the next key goes; empty after the last step.
	Action string
}

// The attributes of the verbs that the service uses (https://www.twilio.com/docs/voice/twiml).
var verbs = map[string][]string{
	"Response": nil, "Say": {"voice", "language"}, "Pause": {"length"}, "Hangup": nil,
	"Gather": {"action", "numDigits", "timeout", "finishOnKey", "actionOnEmptyResult"},
}

// Answer makes Twilio ask what the nth call says first.
func (t *Twilio) Answer(tb testing.TB, n int) TwiML {
	tb.Helper()
	return t.step(tb, n, t.Calls()[n].Get("Url"), nil)
}

// Press presses a key after a step of the nth call, or none if key is empty.
func (t *Twilio) Press(tb testing.TB, n int, after TwiML, key string) TwiML {
	tb.Helper()
	return t.step(tb, n, after.Action, url.Values{"Digits": {key}, "FinishedOnKey": {""}})
}

// CallForm returns the form that Twilio sends during or after the nth call, with further fields
// (https://www.twilio.com/docs/voice/twiml#request-parameters).
func (t *Twilio) CallForm(n int, status string, more url.Values) url.Values {
	form := url.Values{
		"CallSid": {callSID(n)}, "AccountSid": {t.SID}, "From": {t.Sender}, "To": {t.Calls()[n].Get("To")}, "CallStatus": {status},
		"ApiVersion": {"2010-04-01"}, "Direction": {"outbound-api"}, "CallerName": {""},
	}
	maps.Copy(form, more)
	return form
}

// CallStatus reports the status of the nth call to its StatusCallback, and returns the response.
func (t *Twilio) CallStatus(tb testing.TB, n int, status, token string) *http.Response {
	tb.Helper()
	return t.Post(tb, t.Calls()[n].Get("StatusCallback"), t.CallForm(n, status, url.Values{"CallbackSource": {"call-progress-events"}, "SequenceNumber": {"0"}}), token)
}

func (t *Twilio) step(tb testing.TB, n int, address string, more url.Values) TwiML {
	tb.Helper()
	res := t.Post(tb, address, t.CallForm(n, "in-progress", more), t.Token)
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/xml") {
		tb.Fatalf("%s: %s %s %v", address, res.Status, body, err)
	}
	return ParseTwiML(tb, body)
}

// ParseTwiML parses a document. The test fails if Twilio would refuse it.
func ParseTwiML(tb testing.TB, document []byte) (doc TwiML) {
	tb.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(document))
	var open []string
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return doc
		}
		if err != nil {
			tb.Fatalf("%s: %v", document, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			allowed, known := verbs[name]
			attributes := map[string]string{}
			for _, a := range token.Attr {
				attributes[a.Name.Local] = a.Value
				known = known && slices.Contains(allowed, a.Name.Local)
			}
			if !known || len(open) == 0 != (name == "Response") {
				tb.Fatalf("%s: Twilio refuses %s %v", document, name, attributes)
			}
			open = append(open, name)
			if name == "Say" {
				doc.Said, doc.Language = append(doc.Said, ""), attributes["language"]
			}
			if name == "Gather" {
				doc.Action = attributes["action"]
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && open[len(open)-1] == "Say" {
				doc.Said[len(doc.Said)-1] += string(token)
			}
		}
	}
}
