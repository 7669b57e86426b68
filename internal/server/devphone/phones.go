// Package devphone shows the messages of a service for development on the phones that would get them,
// and lets these phones reply. It keeps them in memory. Package server makes no Phones where a message
// can reach a person: see config.Config.DevelopmentPhones.
package devphone

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/voice"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
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
	// Buttons can be pressed: those under a chat message, or the keys of a call.
	Buttons []message.ChatButton
	// CallID is the call that spoke the text if it waits for a key, and CallState its step. KeyPressed says that a
	// key was pressed before.
	CallID, CallState string
	KeyPressed        bool
}

// hangUp is the button that ends a call.
const hangUp = "hang_up"

// waitFor makes the message wait for the keys of a prompt.
func (m *Message) waitFor(callID string, p message.CallPrompt) {
	if p.Keys == "" {
		return
	}
	m.CallID, m.CallState = callID, p.State
	for _, key := range p.Keys {
		m.Buttons = append(m.Buttons, message.ChatButton{ID: string(key), Text: string(key)})
	}
	m.Buttons = append(m.Buttons, message.ChatButton{ID: hangUp, Text: "Hang up"})
}

// ReceiveCall adds what a call says first.
func (s *Phones) ReceiveCall(to phone.Number, callID, code string, p message.CallPrompt) {
	m := Message{ID: callID, Channel: message.Voice, Text: strings.Join(p.Lines, "\n"), Code: code}
	m.waitFor(callID, p)
	s.add(to, m)
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
	// Answer takes a step of a call, and Ended receives the report of a call that ended, as from a provider.
	Answer func(ctx context.Context, callID string, to phone.Number, state, key string) (message.CallPrompt, error)
	Ended  func(ctx context.Context, r message.Report) (int, error)
	// Force brings the consent of a party to a state.
	Force func(ctx context.Context, playerID string, party actor.Role, guardianID string, to approval.State) (*approval.Player, error)
	// Advance moves the clock of the service, which Now shows.
	Advance func(time.Duration)
	// HasChat says that a phone can write by WhatsApp to the service.
	HasChat bool
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
			if m.ID != messageID || b.ID != buttonID {
				continue
			}
			if m.CallID != "" {
				return s.pressKey(ctx, from, m, b)
			}
			return s.send(ctx, message.Reply{Channel: m.Channel, From: from, Text: b.Text, Button: b.ID, Context: m.ID})
		}
	}
	return nil
}

// pressKey presses a key during a call, or hangs up. The keys of this step can not be pressed again.
func (s *Phones) pressKey(ctx context.Context, from phone.Number, m Message, b message.ChatButton) error {
	var next message.CallPrompt
	if b.ID != hangUp {
		var err error
		if next, err = s.Answer(ctx, m.CallID, from, m.CallState, b.ID); err != nil {
			return err
		}
	}
	s.mu.Lock()
	for _, p := range s.phones {
		for i := range p.Messages {
			if p.Number == from && p.Messages[i].CallID == m.CallID {
				p.Messages[i].Buttons = nil
			}
		}
	}
	s.mu.Unlock()
	s.add(from, Message{ID: s.NewID(), Channel: m.Channel, Text: b.Text, Sent: true})
	if b.ID != hangUp {
		says := Message{ID: s.NewID(), Channel: m.Channel, Text: strings.Join(next.Lines, "\n"), KeyPressed: true}
		says.waitFor(m.CallID, next)
		s.add(from, says)
	}
	if next.Keys != "" {
		return nil
	}
	outcome := voice.Completed
	if b.ID == hangUp && !m.KeyPressed {
		outcome = voice.NoKey // as real providers report it: nothing says who answered
	}
	_, err := s.Ended(ctx, outcome.Report(message.MessageRef{MessageID: m.CallID, Attempt: message.NewestAttempt}))
	return err
}

func (s *Phones) send(ctx context.Context, r message.Reply) error {
	r.ID, r.SentAt = s.NewID(), s.Now().Truncate(time.Second)
	s.add(r.From, Message{ID: r.ID, Channel: r.Channel, Text: r.Text, Sent: true})
	return s.Reply(ctx, r)
}
