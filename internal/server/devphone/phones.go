// Package devphone shows the messages of a service for development on the phones that would get them,
// and lets these phones reply. It keeps them in memory. Package server makes no Phones where a message
// can reach a person: see config.Config.DevelopmentPhones.
package devphone

import (
	"context"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	// maxPhones and maxMessages bound the memory. The phone and the message that are the oldest go first.
	maxPhones   = 200
	maxMessages = 100
)

// Message is a message on a phone.
type Message struct {
	ID      string
	Channel message.Channel
	At      time.Time
	Text    string
	// Code is the OTP in the text, or "".
	Code string
	// Sent is true for a reply, which the phone sent.
	Sent bool
	// Buttons can be pressed.
	Buttons []message.ChatButton
}

// Phone is a number with its messages, newest first.
type Phone struct {
	Number   phone.Number
	Messages []Message
}

// Phones are the phones of a service for development. It is safe for concurrent use.
type Phones struct {
	// Reply receives a reply as the callback of a provider does.
	Reply func(ctx context.Context, r message.Reply) error
	// Advance moves the clock of the service and returns its time.
	Advance func(time.Duration) time.Time
	// Hub wakes the open pages.
	Hub   *notice.Hub
	Now   func() time.Time
	NewID func() string

	mu     sync.Mutex
	phones []*Phone // newest message first
}

// codes find an OTP in a text.
var codes = regexp.MustCompile(`\b\d{4,10}\b`)

// Receive adds a message that a channel delivered.
func (s *Phones) Receive(to phone.Number, m Message, isOTP bool) {
	if isOTP {
		m.Code = codes.FindString(m.Text)
	}
	s.add(to, m)
}

// add adds a message to a phone, and wakes the open pages.
func (s *Phones) add(n phone.Number, m Message) {
	m.At = s.Now()
	s.mu.Lock()
	i := slices.IndexFunc(s.phones, func(p *Phone) bool { return p.Number == n })
	p := &Phone{Number: n}
	if i >= 0 {
		p = s.phones[i]
		s.phones = slices.Delete(s.phones, i, i+1)
	}
	p.Messages = slices.Insert(p.Messages, 0, m)
	p.Messages = p.Messages[:min(len(p.Messages), maxMessages)]
	s.phones = slices.Insert(s.phones, 0, p)
	s.phones = s.phones[:min(len(s.phones), maxPhones)]
	s.mu.Unlock()
	s.Hub.Wake(hubKey)
}

// hubKey is the key of the open pages in the Hub.
const hubKey = "development phones"

// List returns the phones, the phone with the newest message first.
func (s *Phones) List() []Phone {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Phone{}
	for _, p := range s.phones {
		list = append(list, Phone{p.Number, slices.Clone(p.Messages)})
	}
	return list
}

// Messages returns the messages of a number, newest first.
func (s *Phones) Messages(n phone.Number) []Message {
	for _, p := range s.List() {
		if p.Number == n {
			return p.Messages
		}
	}
	return nil
}

// Send sends a reply from a phone to the number of the service.
func (s *Phones) Send(ctx context.Context, from phone.Number, channel message.Channel, text string) error {
	return s.send(ctx, message.Reply{Channel: channel, From: from, Text: text})
}

// Press presses a button of a message on a phone. It does nothing if the phone has no such button.
func (s *Phones) Press(ctx context.Context, from phone.Number, messageID, buttonID string) error {
	for _, m := range s.Messages(from) {
		for _, b := range m.Buttons {
			if m.ID == messageID && b.ID == buttonID {
				return s.send(ctx, message.Reply{Channel: m.Channel, From: from, Text: b.Text, Button: b.ID, Context: m.ID})
			}
		}
	}
	return nil
}

func (s *Phones) send(ctx context.Context, r message.Reply) error {
	r.ID, r.SentAt = s.NewID(), s.Now().Truncate(time.Second)
	s.add(r.From, Message{ID: r.ID, Channel: r.Channel, Text: r.Text, Sent: true})
	return s.Reply(ctx, r)
}
