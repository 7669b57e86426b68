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
	testNumber func(phone.Number) bool
}

// NewOutboxSender returns an OutboxSender. Numbers for which testNumber returns true
// get no SMS.
func NewOutboxSender(provider Provider, testNumber func(phone.Number) bool) *OutboxSender {
	return &OutboxSender{provider, testNumber}
}

// Send renders m and makes one attempt to send it.
func (s *OutboxSender) Send(ctx context.Context, m message.Message) error {
	kind := Text
	if m.Kind == message.OTP {
		kind = OTP
	}
	text := message.SMSFor(m)
	return s.provider.Send(ctx, Message{
		ID: m.ID, Attempt: m.Attempt, TotalAttempts: m.TotalAttempts, To: phone.Number(m.To), Text: text.Body, Kind: kind, Template: text,
	})
}

// Segments returns the number of SMS that m takes.
func (s *OutboxSender) Segments(m message.Message) int { return message.Segments(message.SMSText(m)) }

// Suppressed reports whether to is a test number.
func (s *OutboxSender) Suppressed(to string) bool { return s.testNumber(phone.Number(to)) }
