package config

import (
	"net/url"
	"slices"
	"strings"
)

const (
	voiceOff = "off"
	// voiceLog shows calls in development in place of making them.
	voiceLog = "log"
	// voiceTwilio calls with the account of Twilio in SMS, or with its own after a colon.
	voiceTwilio = "twilio"
	// voiceHTTP is before the URL of a gateway.
	voiceHTTP = "http:"
)

// HasVoice reports whether the service makes calls.
func (c *Config) HasVoice() bool { return c.Voice != "" && c.Voice != voiceOff }

// VoiceLog reports whether calls are shown in development in place of being made.
func (c *Config) VoiceLog() bool { return c.Voice == voiceLog }

// VoiceProvider returns the provider of calls, of the kind http or twilio. Its kind is empty if the service
// makes none.
func (c *Config) VoiceProvider() SMSProvider {
	p, _ := c.voiceProvider()
	return p
}

func (c *Config) voiceProvider() (p SMSProvider, message string) {
	text := c.Voice.Reveal()
	switch {
	case !c.HasVoice() || c.VoiceLog():
		return SMSProvider{}, ""
	case strings.HasPrefix(text, voiceHTTP):
		p, message = parseProvider(text)
		if u, err := url.Parse(p.URL); message == "" && err == nil {
			if password, _ := u.User.Password(); password == "" {
				message = "needs a password, with which the gateway signs its calls: http:https://touchline:<password>@gateway.example/call"
			}
		}
		return p, message
	case text == voiceTwilio:
		providers := c.SMSProviders()
		i := slices.IndexFunc(providers, func(p SMSProvider) bool { return p.Kind == voiceTwilio })
		if i < 0 {
			return SMSProvider{}, "twilio needs the account of Twilio: have it in SMS too, or write " + smsForms[voiceTwilio].example
		}
		p = providers[i]
	case strings.HasPrefix(text, voiceTwilio+":"):
		p, message = parseProvider(text)
	default:
		return SMSProvider{}, "must be off, log, twilio or http:https://touchline:<password>@gateway.example/call"
	}
	if digits, isNumber := strings.CutPrefix(p.Sender, "+"); message == "" && (!isNumber || strings.ContainsFunc(digits, isNoDigit)) {
		message = "twilio calls from a number: write twilio:https://<account SID>:<auth token>@api.twilio.com?from=+<number>"
	}
	if message == "" && !c.isSet("PUBLIC_URL") {
		message = "twilio needs PUBLIC_URL, at which Twilio asks what to say"
	}
	return p, message
}

// checkVoice returns what is wrong with VOICE. It does not repeat the URL, which may contain a password.
func (c *Config) checkVoice() string {
	if c.VoiceLog() && (!IsLoopback(c.Addr) || c.isSet("PUBLIC_URL")) {
		return "log is for development: it needs an ADDR on loopback and no PUBLIC_URL. Set twilio or http:<url> to make calls, or off"
	}
	_, message := c.voiceProvider()
	return message
}
