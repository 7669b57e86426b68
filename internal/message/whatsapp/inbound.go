package whatsapp

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// inbound is a message of a person.
type inbound struct {
	// From is the number without its plus. Meta leaves it out for a person with a user name, and names UserID.
	From   string `json:"from"`
	UserID string `json:"from_user_id"`
	ID     string `json:"id"`
	// Timestamp is a Unix time in seconds, as a string. Other webhooks of Meta have
	// numbers.
	Timestamp json.RawMessage `json:"timestamp"`
	content
	// Button is a quick reply of a template, Interactive a button or a line of a list.
	Button struct {
		Payload string `json:"payload"`
	} `json:"button"`
	Interactive struct {
		Button struct {
			ID string `json:"id"`
		} `json:"button_reply"`
		List struct {
			ID string `json:"id"`
		} `json:"list_reply"`
	} `json:"interactive"`
	Reaction struct {
		MessageID string `json:"message_id"`
		Emoji     string `json:"emoji"`
	} `json:"reaction"`
	// Edit has the new content of a message.
	Edit struct {
		content
		Message content `json:"message"`
	} `json:"edit"`
}

// content is a text or a file.
type content struct {
	Type string `json:"type"`
	Text struct {
		Body string `json:"body"`
	} `json:"text"`
	Image    caption `json:"image"`
	Video    caption `json:"video"`
	Document caption `json:"document"`
	Context  struct {
		ID string `json:"id"`
	} `json:"context"`
}

// caption is the text under a file.
type caption struct {
	Caption string `json:"caption"`
}

func (c content) text() string {
	return cmp.Or(c.Text.Body, c.Image.Caption, c.Video.Caption, c.Document.Caption)
}

// contact is a person in a call.
type contact struct {
	Number string `json:"wa_id"`
	UserID string `json:"user_id"`
}

var userIDs = regexp.MustCompile(`^[A-Z]{2}\.[0-9A-Za-z._-]{1,150}$`)

// userID returns a user id, or "" for another text.
func userID(s string) string {
	if userIDs.MatchString(s) {
		return s
	}
	return ""
}

// Replies returns the messages that people sent, if Meta has signed the call. parseNumber parses a
// number. A message without a number has an empty From.
func (c Callbacks) Replies(call message.ProviderCall, parseNumber func(string) (phone.Number, error)) []message.Reply {
	if !c.signed(call) {
		return nil
	}
	body, ok := parse(call.Body)
	if !ok {
		return nil
	}
	var replies []message.Reply
	for _, entry := range body.Entry {
		for _, change := range entry.Changes {
			if change.Field != "messages" {
				continue
			}
			for _, m := range change.Value.Messages {
				if m.Type == "system" || m.Type == "request_welcome" {
					continue // of WhatsApp, not of a person
				}
				r := m.reply()
				r.From, r.UserID = m.sender(change.Value.Contacts, len(change.Value.Messages) == 1, parseNumber)
				replies = append(replies, r)
			}
		}
	}
	return replies
}

// sender returns the number and the user id of the person who sent m, each empty if the call does not name it.
// alone is true for the only message of a call, whose only contact is its sender.
func (m inbound) sender(contacts []contact, alone bool, parse func(string) (phone.Number, error)) (n phone.Number, id string) {
	id = cmp.Or(userID(m.UserID), userID(m.From))
	i := slices.IndexFunc(contacts, func(c contact) bool { return c.UserID != "" && c.UserID == id || c.Number != "" && c.Number == m.From })
	if i < 0 && alone && len(contacts) == 1 && (id == "" || contacts[0].UserID == "") {
		i = 0
	}
	names := []string{m.From}
	if i >= 0 {
		id = cmp.Or(id, userID(contacts[i].UserID))
		names = append(names, contacts[i].Number)
	}
	for _, name := range names {
		if strings.Trim(name, "+0123456789") != "" {
			continue
		}
		if n, err := phone.FromNetwork(parse, name); err == nil {
			return n, id
		}
	}
	return "", id
}

// reply returns m without its sender.
func (m inbound) reply() message.Reply {
	r := message.Reply{
		Channel: message.Chat, Text: m.text(), ID: m.ID,
		SentAt:  message.ParseSentAt(strings.Trim(string(m.Timestamp), `"`)),
		Context: cmp.Or(m.Context.ID, m.Reaction.MessageID, m.Edit.Message.Context.ID, m.Edit.Context.ID),
		Button:  cmp.Or(m.Button.Payload, m.Interactive.Button.ID, m.Interactive.List.ID),
	}
	kind := m.Type
	switch kind {
	case "text", "button", "":
	case "interactive":
		if r.Button == "" {
			r.Kind = message.ReplyUnsupported // such as a form
		}
	case "reaction":
		r.Kind, r.Text = message.ReplyReaction, m.Reaction.Emoji
	case "edit":
		r.Kind, r.Text = message.ReplyEdit, cmp.Or(m.Edit.Message.text(), m.Edit.text(), r.Text)
		kind = m.Edit.Message.Type
	case "revoke":
		r.Kind = message.ReplyDeleted
	default:
		if !message.IsMedia(kind) {
			r.Kind = message.ReplyUnsupported
		}
	}
	if message.IsMedia(kind) {
		r.Media = kind
	}
	return r
}
