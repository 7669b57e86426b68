// Package push sends push messages: to browsers by Web Push (RFC 8030), encrypted for the
// browser (RFC 8291), and to apps by FCM HTTP v1. It makes one attempt and reports the result.
// Retries and texts belong to packages worker and notify.
package push

import (
	"context"
	"crypto/ecdh"
	"errors"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// maxResponse bounds how much of a response is read, in bytes, so that its connection can be
// used again.
const maxResponse = 16 << 10

// Store is the part of package store that the Sender uses.
type Store interface {
	// PushSubscription returns a subscription whose session is live, or false.
	PushSubscription(ctx context.Context, id string) (s message.PushSubscription, found bool, err error)
	// PushSubscriptionGone removes a subscription.
	PushSubscriptionGone(ctx context.Context, id string) error
}

// Client sends requests. It refuses private addresses.
type Client interface {
	Do(r *http.Request) (*http.Response, error)
}

// Config is the configuration for New.
type Config struct {
	Store Store
	// Client sends to the push services of browsers.
	Client Client
	// Key identifies the service to push services (RFC 8292).
	Key *ecdh.PrivateKey
	// Contact is an https URL or an e-mail address at which a push service reaches the
	// operator.
	Contact string
	// FCM sends to apps. It is nil if the service has no account at FCM.
	FCM *FCM
	Now func() time.Time
	// Clock times the attempts; nil means time.Now. Now may be set while an attempt runs.
	Clock func() time.Time
}

// Sender sends the outbox's deliveries, whose addresses are ids of subscriptions. It implements
// worker.Sender and is safe for concurrent use.
type Sender struct {
	config          Config
	private, public string
	slow            *slowSubscriptions
}

// New returns a Sender.
func New(c Config) *Sender {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Sender{config: c, private: encode(c.Key.Bytes()), public: PublicKey(c.Key), slow: newSlowSubscriptions()}
}

// Send makes one attempt to send m to the device of its subscription. A subscription that the
// push service no longer knows is removed.
func (s *Sender) Send(ctx context.Context, m message.Message) error {
	to, found, err := s.config.Store.PushSubscription(ctx, m.To)
	if err != nil {
		return err
	}
	if !found {
		return &message.SendError{Gone: true, Reason: "the session or its subscription has ended"}
	}
	text := message.PushOf(m, to.ShowNames)
	switch {
	case to.Kind() == message.PushWeb:
		err = s.sendWeb(ctx, m, to, text)
	case s.config.FCM != nil:
		err = s.config.FCM.send(ctx, m, to.Token, text)
	default: // another replica may have an account
		err = &message.SendError{Reason: "the service has no account at FCM"}
	}
	if f, ok := errors.AsType[*message.SendError](err); ok && f.Gone {
		if err := s.config.Store.PushSubscriptionGone(ctx, to.ID); err != nil {
			return err
		}
	}
	return err
}

// Suppressed reports whether nothing is sent to a subscription. That depends on none.
func (s *Sender) Suppressed(string) bool { return false }

// Segments returns 0: push messages cost nothing and go to devices that asked for them, so no
// limit counts them.
func (s *Sender) Segments(message.Message) int { return 0 }
