package sms

import (
	"crypto/subtle"
	"strings"

	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

// ReplyReaders returns the readers of the providers in c that report replies; see
// notify.Replies. parse parses the number of a sender.
func ReplyReaders(c Config, parse func(string) (phone.Number, error)) map[string]func(notify.ProviderCall, string) (notify.Reply, bool) {
	reply := func(from, text string) notify.Reply {
		if from != "" && !strings.HasPrefix(from, "+") {
			// Some networks leave out the plus.
			if n, err := parse("+" + from); err == nil {
				return notify.Reply{Channel: notify.SMS, From: n, Text: text}
			}
		}
		n, err := parse(from)
		if err != nil {
			return notify.Reply{} // such as the name of a sender
		}
		return notify.Reply{Channel: notify.SMS, From: n, Text: text}
	}
	readers := map[string]func(notify.ProviderCall, string) (notify.Reply, bool){}
	for _, spec := range c.Specs {
		switch kind, _, _ := strings.Cut(spec, ":"); {
		case kind == twilio:
			readers[twilio] = func(call notify.ProviderCall, _ string) (notify.Reply, bool) {
				return reply(call.Form.Get("From"), call.Form.Get("Body")), c.Twilio.signed(call)
			}
		case kind == kannel && c.ReplySecret != "":
			// The parameters are from (%p) and text (%a).
			readers[kannel] = func(call notify.ProviderCall, secret string) (notify.Reply, bool) {
				return reply(call.Query.Get("from"), call.Query.Get("text")), subtle.ConstantTimeCompare([]byte(secret), []byte(c.ReplySecret)) == 1
			}
		}
	}
	return readers
}
