package config

import (
	"net/url"
	"strings"
)

const (
	voiceOff = "off"
	// voiceLog shows calls in development in place of making them.
	voiceLog = "log"
	// voiceHTTP is before the URL of a gateway.
	voiceHTTP = "http:"
)

// HasVoice reports whether the service makes calls.
func (c *Config) HasVoice() bool { return c.Voice != "" && c.Voice != voiceOff }

// VoiceLog reports whether calls are shown in development in place of being made.
func (c *Config) VoiceLog() bool { return c.Voice == voiceLog }

// VoiceGateway returns the URL of the gateway for calls, or "".
func (c *Config) VoiceGateway() string {
	if !c.HasVoice() || c.VoiceLog() {
		return ""
	}
	return strings.TrimPrefix(c.Voice.Reveal(), voiceHTTP)
}

// checkVoice returns what is wrong with VOICE. It does not repeat the URL, which may contain a password.
func (c *Config) checkVoice() string {
	switch {
	case c.VoiceLog() && (!IsLoopback(c.Addr) || c.isSet("PUBLIC_URL")):
		return "log is for development: it needs an ADDR on loopback and no PUBLIC_URL. Set http:<url> to make calls, or off"
	case !c.HasVoice() || c.VoiceLog():
		return ""
	}
	u, err := url.Parse(c.VoiceGateway())
	if err != nil || !strings.HasPrefix(c.Voice.Reveal(), voiceHTTP) || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "must be off, log or http:https://gateway.example/call"
	}
	return ""
}
