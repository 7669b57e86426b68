package sms

import (
	"crypto/subtle"
	"net/url"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// ReplyReaders returns the readers of the providers in c that report replies; see
// message.Replies. parse parses the number of a sender.
func ReplyReaders(c Config, parse func(string) (phone.Number, error)) map[string]func(message.ProviderCall, string) (message.Reply, bool) {
	sender := func(from string) phone.Number {
		n, err := phone.FromNetwork(parse, from)
		if err != nil {
			return "" // such as the name of a sender
		}
		return n
	}
	readers := map[string]func(message.ProviderCall, string) (message.Reply, bool){}
	for _, a := range c.Accounts {
		switch {
		case a.Kind == twilio:
			readers[twilio] = func(call message.ProviderCall, _ string) (message.Reply, bool) {
				return message.Reply{
					Channel: message.SMS, From: sender(call.Form.Get("From")), Text: call.Form.Get("Body"), ID: call.Form.Get("MessageSid"),
					Media: mediaOf(call.Form),
					// Twilio's Advanced Opt-Out says so for words of the account's own list.
					Means: message.Keyword(strings.ToUpper(call.Form.Get("OptOutType"))),
				}, c.SignedByTwilio(call)
			}
		case a.Kind == kannel && a.ReplySecret != "":
			// The parameters are from (%p), text (%a), id (%I) and sent_at (%T).
			readers[kannel] = func(call message.ProviderCall, secret string) (message.Reply, bool) {
				return message.Reply{
					Channel: message.SMS, From: sender(call.Query.Get("from")), Text: call.Query.Get("text"),
					ID: call.Query.Get("id"), SentAt: message.ParseSentAt(call.Query.Get("sent_at")),
				}, c.isReplySecret(secret)
			}
		}
	}
	return readers
}

// mediaOf returns the kind of the first file of an MMS, as the Cloud API of WhatsApp names it, or "" for an SMS.
func mediaOf(form url.Values) string {
	if n, err := strconv.Atoi(form.Get("NumMedia")); err != nil || n < 1 {
		return ""
	}
	mediaType, _, _ := strings.Cut(strings.ToLower(form.Get("MediaContentType0")), ";")
	switch kind, form, _ := strings.Cut(strings.TrimSpace(mediaType), "/"); {
	case kind == "image", kind == "video", kind == "audio":
		return kind
	case form == "vcard", form == "x-vcard":
		return "contacts"
	}
	return "document"
}

// isReplySecret reports, in constant time, whether secret belongs to a Kannel.
func (c Config) isReplySecret(secret string) bool {
	equal := 0
	for _, a := range c.Accounts {
		if a.Kind == kannel && a.ReplySecret != "" {
			equal |= subtle.ConstantTimeCompare([]byte(secret), []byte(a.ReplySecret))
		}
	}
	return equal == 1
}
