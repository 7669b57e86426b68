package whatsapp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Shown is a message that Log shows.
type Shown struct {
	// ID is the id with which an answer names the message (message.Reply.Context).
	ID   string
	To   phone.Number
	Text string
	// Code is the OTP in the text, or empty.
	Code string
	// Buttons can be pressed. A press is a message.Reply with the Button, this ID as Context and the text.
	Buttons []message.ChatButton
}

// Log shows messages in development in place of sending them (WHATSAPP=log). It implements worker.Sender.
type Log struct {
	// Show shows a message on a phone; nil shows none.
	Show func(Shown)
	// Terminal gets a line for each message; nil gets none.
	Terminal io.Writer
	// Accepted is as in Config.
	Accepted func(ctx context.Context, deliveryID, providerID string) error
	NewID    func() string
}

// Suppressed returns false: nothing leaves.
func (l *Log) Suppressed(string) bool { return false }

// Segments is Sender.Segments.
func (l *Log) Segments(m message.Message) int { return message.Segments(message.SMSText(m)) }

// Send shows a message.
func (l *Log) Send(ctx context.Context, m message.Message) error {
	texts := message.WhatsAppOf(m)
	if len(texts) == 0 {
		return &message.SendError{Permanent: true, Cause: message.CauseFiltered, Reason: "WhatsApp has no template for this kind of message"}
	}
	for _, text := range texts {
		shown := Shown{ID: l.NewID(), To: phone.Number(m.To), Text: text.String(), Code: text.Code, Buttons: text.Answers}
		if l.Accepted != nil {
			if err := l.Accepted(ctx, m.ID, shown.ID); err != nil {
				return err
			}
		}
		l.show(shown)
	}
	return nil
}

// Say shows an answer to a person who just wrote or pressed a button.
func (l *Log) Say(_ context.Context, to phone.Number, a message.ChatAnswer) error {
	l.show(Shown{ID: l.NewID(), To: to, Text: a.Text, Code: a.Code, Buttons: a.Buttons})
	return nil
}

func (l *Log) show(m Shown) {
	if l.Terminal != nil {
		text := strings.Map(func(r rune) rune { // names must not control the terminal
			if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				return -1
			}
			return r
		}, m.Text)
		for _, b := range m.Buttons {
			text += "\n[" + b.Text + "]"
		}
		// One write, so that concurrent messages do not interleave.
		_, _ = fmt.Fprintf(l.Terminal, "\n┌── WhatsApp, NOT SENT: for development only ──\n│ to %s\n│\n│   %s\n└──\n", m.To.Format(), strings.ReplaceAll(text, "\n", "\n│   "))
	}
	if l.Show != nil {
		l.Show(m)
	}
}
