package voice

import (
	"context"
	"encoding/xml"
	"net/url"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
)

// Twilio calls through Twilio's Calls resource (https://www.twilio.com/docs/voice/api/call-resource). Twilio
// fetches each prompt as TwiML with a signed form
// (https://www.twilio.com/docs/voice/twiml#request-parameters).
type Twilio struct {
	config Config
	api    *sms.TwilioAPI
	signed func(message.ProviderCall) bool
}

func newTwilio(c Config) (*Twilio, error) {
	api, err := sms.NewTwilioAPI(c.Account, callTimeout)
	if err != nil {
		return nil, err
	}
	return &Twilio{c, api, sms.Config{Accounts: []sms.Account{c.Account}}.SignedByTwilio}, nil
}

// Name returns the provider in addresses.
func (t *Twilio) Name() string { return twilioVoice }

// Call makes Twilio call c.To and keeps the SID of the call. Without StatusCallbackEvent Twilio reports
// only how the call ended.
func (t *Twilio) Call(ctx context.Context, c Call) error {
	attempt := message.MessageRef{MessageID: c.ID, Attempt: c.TotalAttempts, Provider: twilioVoice}
	sid, err := t.api.Create(ctx, "Calls.json", "CA", url.Values{
		"To": {string(c.To)}, "From": {t.config.Account.Sender}, "Url": {t.config.CallURL(attempt)}, "StatusCallback": {t.config.ReceiptURL(attempt)},
	})
	if err != nil {
		return err
	}
	_ = t.config.Accepted(ctx, c.ID, sid) // without the SID the call is the same; an error would call twice
	return nil
}

// ReadStep reads a signed form. Its query has the state, which Render set.
func (t *Twilio) ReadStep(call message.ProviderCall) (Step, bool) {
	return Step{call.Query.Get("state"), call.Form.Get("Digits")}, t.signed(call)
}

// ReadReceipt reads a signed form about the status of a call.
func (t *Twilio) ReadReceipt(call message.ProviderCall) (r message.Report, final, ok bool) {
	if !t.signed(call) {
		return message.Report{}, false, false
	}
	sip, _ := strconv.Atoi(call.Form.Get("SipResponseCode"))
	r, final = ended(call.Form.Get("CallStatus"), sip)
	return r, final, true
}

// The elements of TwiML (https://www.twilio.com/docs/voice/twiml).
type (
	twiml struct {
		XMLName xml.Name `xml:"Response"`
		Gather  *gather
		Spoken  []any
		Hangup  *struct{}
	}
	// gather waits for one key while and after it speaks. An empty FinishOnKey makes # a key like the others.
	// ActionOnEmptyResult calls Action without a key, too.
	gather struct {
		Action              string `xml:"action,attr"`
		NumDigits           int    `xml:"numDigits,attr"`
		Timeout             int    `xml:"timeout,attr"`
		FinishOnKey         string `xml:"finishOnKey,attr"`
		ActionOnEmptyResult bool   `xml:"actionOnEmptyResult,attr"`
		Spoken              []any
	}
	say struct {
		XMLName  xml.Name `xml:"Say"`
		Voice    string   `xml:"voice,attr"`
		Language string   `xml:"language,attr"`
		Text     string   `xml:",chardata"`
	}
	pause struct {
		XMLName xml.Name `xml:"Pause"`
		Length  int      `xml:"length,attr"`
	}
)

const (
	// keySeconds is how long a call waits for a key after a prompt.
	keySeconds = 10
)

// Render returns p as TwiML.
func (t *Twilio) Render(p Prompt, address string) (mediaType string, body []byte, err error) {
	var spoken []any
	voice := language.Of(message.SpokenLanguage(p.Language)).Twilio // https://www.twilio.com/docs/voice/twiml/say/text-speech
	for _, line := range p.Lines {
		spoken = append(spoken, say{Voice: voice.Voice, Language: voice.Language, Text: line}, pause{Length: 1})
	}
	response := twiml{Spoken: spoken, Hangup: &struct{}{}}
	if p.Keys != "" {
		response = twiml{Gather: &gather{
			Action: address + "?" + url.Values{"state": {p.State}}.Encode(), NumDigits: 1, Timeout: keySeconds, ActionOnEmptyResult: true, Spoken: spoken,
		}}
	}
	body, err = xml.Marshal(response)
	return "text/xml; charset=utf-8", append([]byte(xml.Header), body...), err
}

func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
}
