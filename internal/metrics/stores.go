package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/worker"
)

// Auth returns store with OTPs and sessions counted.
func (m *Metrics) Auth(store auth.Store) auth.Store { return &authStore{store, m} }

type authStore struct {
	auth.Store
	m *Metrics
}

// outcomes are the label values of a verification.
var outcomes = map[auth.VerifyOutcome]string{
	auth.CorrectCode:       "correct",
	auth.WrongCode:         "incorrect",
	auth.NoChallenge:       "no_challenge",
	auth.AttemptsExhausted: "exhausted",
	auth.Blocked:           "blocked",
	auth.AccountSuspended:  "suspended",
}

func (s *authStore) OpenChallenge(ctx context.Context, r auth.ChallengeRequest) (auth.Challenge, error) {
	c, err := s.Store.OpenChallenge(ctx, r)
	outcome := "issued"
	if err != nil {
		outcome = "refused"
	}
	if _, ok := errors.AsType[auth.FraudSuspected](err); ok {
		outcome = "fraud_suspected"
	}
	s.m.otps.WithLabelValues(outcome).Inc()
	return c, err
}

func (s *authStore) VerifyOTP(ctx context.Context, a auth.Attempt) (auth.VerificationResult, error) {
	result, err := s.Store.VerifyOTP(ctx, a)
	if err == nil {
		s.m.otps.WithLabelValues(outcomes[result.Outcome]).Inc()
		if result.Outcome == auth.CorrectCode && a.SignIn != nil {
			s.m.sessions.WithLabelValues("opened").Inc()
		}
	}
	return result, err
}

func (s *authStore) ChangeNumber(ctx context.Context, c auth.NumberChange) (auth.NumberChangeResult, error) {
	result, err := s.Store.ChangeNumber(ctx, c)
	if err != nil {
		return result, err
	}
	s.m.otps.WithLabelValues(outcomes[result.Current.Outcome]).Inc()
	if result.Current.Outcome == auth.CorrectCode { // otherwise the store does not verify the code of the new number
		s.m.otps.WithLabelValues(outcomes[result.New.Outcome]).Inc()
	}
	s.m.sessions.WithLabelValues("ended").Add(float64(result.Ended))
	return result, nil
}

func (s *authStore) CloseAccount(ctx context.Context, c auth.CloseRequest) (auth.VerificationResult, error) {
	result, err := s.Store.CloseAccount(ctx, c)
	if err == nil {
		s.m.otps.WithLabelValues(outcomes[result.Outcome]).Inc()
		if result.Outcome == auth.CorrectCode {
			s.m.sessions.WithLabelValues("ended_all").Inc()
		}
	}
	return result, err
}

func (s *authStore) Rotate(ctx context.Context, r auth.Rotation) (*auth.Session, error) {
	session, err := s.Store.Rotate(ctx, r)
	if session != nil {
		s.m.sessions.WithLabelValues("refreshed").Inc()
	}
	return session, err
}

func (s *authStore) Revoke(ctx context.Context, session *auth.Session, e event.Event) error {
	err := s.Store.Revoke(ctx, session, e)
	if err == nil {
		s.m.sessions.WithLabelValues("reused").Inc()
	}
	return err
}

func (s *authStore) EndSession(ctx context.Context, accountID, id string) (bool, error) {
	ended, err := s.Store.EndSession(ctx, accountID, id)
	if ended {
		s.m.sessions.WithLabelValues("ended").Inc()
	}
	return ended, err
}

func (s *authStore) EndAllSessions(ctx context.Context, by actor.Actor) error {
	err := s.Store.EndAllSessions(ctx, by)
	if err == nil {
		s.m.sessions.WithLabelValues("ended_all").Inc()
	}
	return err
}

// Approvals returns store with decisions counted.
func (m *Metrics) Approvals(store approval.Store) approval.Store { return &approvalStore{store, m} }

type approvalStore struct {
	approval.Store
	m *Metrics
}

func (s *approvalStore) UpdatePlayer(ctx context.Context, id string, load approval.LoadOptions, fn func(*approval.Player) (approval.Change, error)) error {
	var decided *approval.Record
	err := s.Store.UpdatePlayer(ctx, id, load, func(p *approval.Player) (approval.Change, error) {
		change, err := fn(p)
		decided = change.History
		return change, err
	})
	if err == nil && decided != nil {
		s.m.decisions.WithLabelValues(string(decided.Party), string(decided.Action)).Inc()
	}
	return err
}

// Outbox returns store with deliveries counted.
func (m *Metrics) Outbox(store worker.Store) worker.Store { return &outboxStore{store, m} }

type outboxStore struct {
	worker.Store
	m *Metrics
}

func (s *outboxStore) count(d notify.Delivery, outcome string, err error) error {
	if err == nil {
		s.m.deliveries.WithLabelValues(string(d.Channel), string(d.Kind), outcome).Inc()
	}
	return err
}

func (s *outboxStore) DeliverySent(ctx context.Context, d notify.Delivery) error {
	return s.count(d, "sent", s.Store.DeliverySent(ctx, d))
}

func (s *outboxStore) DeliverySuppressed(ctx context.Context, d notify.Delivery) error {
	return s.count(d, "dropped", s.Store.DeliverySuppressed(ctx, d))
}

func (s *outboxStore) RetryDelivery(ctx context.Context, d notify.Delivery, due time.Time, reason string) error {
	return s.count(d, "retried", s.Store.RetryDelivery(ctx, d, due, reason))
}

func (s *outboxStore) DeliveryDropped(ctx context.Context, d notify.Delivery, reason string) error {
	return s.count(d, "dropped", s.Store.DeliveryDropped(ctx, d, reason))
}

func (s *outboxStore) DeliveryFailed(ctx context.Context, d notify.Delivery, reason string) error {
	return s.count(d, "failed", s.Store.DeliveryFailed(ctx, d, reason))
}
