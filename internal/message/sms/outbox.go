package sms

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// OutboxSender sends the outbox's deliveries through a provider. It implements
// worker.Sender.
type OutboxSender struct {
	provider   Provider
	registered bool
	testNumber func(phone.Number) bool
}

// NewOutboxSender returns an OutboxSender. With registered, numbers of India get the texts that are registered there.
// Numbers for which testNumber returns true get no SMS.
func NewOutboxSender(provider Provider, registered bool, testNumber func(phone.Number) bool) *OutboxSender {
	return &OutboxSender{provider, registered, testNumber}
}

func (s *OutboxSender) text(m message.Message) message.Text {
	text := message.SMSOf(m)
	if s.registered {
		return text.Registered(m)
	}
	return text
}

// Send renders m and makes one attempt to send it.
func (s *OutboxSender) Send(ctx context.Context, m message.Message) error {
	kind := Text
	if m.Kind == message.OTP {
		kind = OTP
	}
	text := s.text(m)
	return s.provider.Send(ctx, Message{
		ID: m.ID, Attempt: m.Attempt, TotalAttempts: m.TotalAttempts, To: phone.Number(m.To), Text: text.Body, Kind: kind, Template: text,
	})
}

// Segments returns the number of SMS that m takes.
func (s *OutboxSender) Segments(m message.Message) int { return message.Segments(s.text(m).Body) }

// Suppressed reports whether to is a test number.
func (s *OutboxSender) Suppressed(to string) bool { return s.testNumber(phone.Number(to)) }
