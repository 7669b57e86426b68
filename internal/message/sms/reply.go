package sms

import (
	"crypto/subtle"
	"strings"

	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/platform/phone"
)

// ReplyReaders returns the readers of the providers in c that report replies; see
// notify.Replies. parse parses the number of a sender.
func ReplyReaders(c Config, parse func(string) (phone.Number, error)) map[string]func(notify.ProviderCall, string) (notify.Reply, bool) {
	sender := func(from string) phone.Number {
		if from != "" && !strings.HasPrefix(from, "+") {
			// Some networks leave out the plus.
			if n, err := parse("+" + from); err == nil {
				return n
			}
		}
		n, err := parse(from)
		if err != nil {
			return "" // such as the name of a sender
		}
		return n
	}
	readers := map[string]func(notify.ProviderCall, string) (notify.Reply, bool){}
	for _, spec := range c.Specs {
		switch kind, _, _ := strings.Cut(spec, ":"); {
		case kind == twilio:
			readers[twilio] = func(call notify.ProviderCall, _ string) (notify.Reply, bool) {
				return notify.Reply{
					Channel: notify.SMS, From: sender(call.Form.Get("From")), Text: call.Form.Get("Body"), ID: call.Form.Get("MessageSid"),
				}, c.Twilio.signed(call)
			}
		case kind == kannel && c.ReplySecret != "":
			// The parameters are from (%p), text (%a), id (%I) and sent_at (%T).
			readers[kannel] = func(call notify.ProviderCall, secret string) (notify.Reply, bool) {
				return notify.Reply{
					Channel: notify.SMS, From: sender(call.Query.Get("from")), Text: call.Query.Get("text"),
					ID: call.Query.Get("id"), SentAt: notify.ParseSentAt(call.Query.Get("sent_at")),
				}, subtle.ConstantTimeCompare([]byte(secret), []byte(c.ReplySecret)) == 1
			}
		}
	}
	return readers
}
