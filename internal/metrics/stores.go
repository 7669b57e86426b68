package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/worker"
)

// outcomes are the label values of a verification.
var outcomes = map[auth.VerifyOutcome]string{
	auth.CorrectCode:       "correct",
	auth.WrongCode:         "incorrect",
	auth.NoChallenge:       "no_challenge",
	auth.AttemptsExhausted: "exhausted",
	auth.Blocked:           "blocked",
	auth.AccountSuspended:  "suspended",
}

// Requested counts a request for an OTP that ended with err.
func (m *Metrics) Requested(err error) {
	outcome := "issued"
	if err != nil {
		outcome = "refused"
	}
	if _, ok := errors.AsType[auth.FraudSuspected](err); ok {
		outcome = "fraud_suspected"
	}
	m.otps.WithLabelValues(outcome).Inc()
}

// Verified counts an attempt at an OTP.
func (m *Metrics) Verified(outcome auth.VerifyOutcome) {
	m.otps.WithLabelValues(outcomes[outcome]).Inc()
}

// Sessions counts n events of sessions.
func (m *Metrics) Sessions(event string, n int) {
	m.sessions.WithLabelValues(event).Add(float64(n))
}

// Decided counts a decision of a guardian or student.
// onCoachDevice reports whether the device had signed in as the coach.
func (m *Metrics) Decided(party, action string, onCoachDevice bool) {
	m.decisions.WithLabelValues(party, action).Inc()
	if onCoachDevice {
		m.onCoach.WithLabelValues(party).Inc()
	}
}

// SMSAttempt counts an attempt to send an SMS.
func (m *Metrics) SMSAttempt(provider, outcome string) {
	m.sends.WithLabelValues(provider, outcome).Inc()
}

// Receipt counts a receipt that changed a delivery.
func (m *Metrics) Receipt(provider string, r message.Receipt) {
	m.receipts.WithLabelValues(provider, string(r)).Inc()
}

// UnplacedReply counts a reply by WhatsApp of a person whose number is not known.
func (m *Metrics) UnplacedReply() { m.unplaced.WithLabelValues().Inc() }

// Outbox returns store with deliveries counted.
func (m *Metrics) Outbox(store worker.Store) worker.Store { return &outboxStore{store, m} }

type outboxStore struct {
	worker.Store
	m *Metrics
}

func (s *outboxStore) count(message []message.Delivery, outcome string, err error) error {
	if err != nil {
		return err
	}
	for _, d := range message {
		s.m.deliveries.WithLabelValues(string(d.Channel), string(d.Kind), outcome).Inc()
	}
	return nil
}

func (s *outboxStore) DeliverySent(ctx context.Context, message []message.Delivery) error {
	return s.count(message, "sent", s.Store.DeliverySent(ctx, message))
}

func (s *outboxStore) DeliverySuppressed(ctx context.Context, message []message.Delivery) error {
	return s.count(message, "dropped", s.Store.DeliverySuppressed(ctx, message))
}

func (s *outboxStore) RetryDelivery(ctx context.Context, message []message.Delivery, due time.Time, reason string) error {
	return s.count(message, "retried", s.Store.RetryDelivery(ctx, message, due, reason))
}

func (s *outboxStore) DeliveryDropped(ctx context.Context, message []message.Delivery, reason string) error {
	return s.count(message, "dropped", s.Store.DeliveryDropped(ctx, message, reason))
}

func (s *outboxStore) DeliveryFailed(ctx context.Context, message []message.Delivery, reason string, cause message.Cause) error {
	return s.count(message, "failed", s.Store.DeliveryFailed(ctx, message, reason, cause))
}
