// Package push sends push messages to browsers (RFC 8030), encrypted for the browser
// (RFC 8291). It makes one attempt and reports the result. Retries and texts belong to
// packages worker and notify.
package push

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/touchline/touchline/internal/notify"
)

// maxResponse bounds how much of a response is read, in bytes, so that its connection can be
// used again.
const maxResponse = 16 << 10

// Store is the part of package store that the Sender uses.
type Store interface {
	// PushSubscription returns a subscription whose session is live, or false.
	PushSubscription(ctx context.Context, id string) (s notify.PushSubscription, found bool, err error)
	// PushSubscriptionGone removes a subscription.
	PushSubscriptionGone(ctx context.Context, id string) error
}

// Client sends requests. It refuses private addresses.
type Client interface {
	Do(r *http.Request) (*http.Response, error)
}

// Config is what New needs.
type Config struct {
	Store  Store
	Client Client
	// Key identifies the service to push services (RFC 8292).
	Key *ecdh.PrivateKey
	// Contact is an https URL or an e-mail address at which a push service reaches the
	// operator.
	Contact string
	Now     func() time.Time
}

// Sender sends the outbox's deliveries, whose addresses are ids of subscriptions. It implements
// worker.Sender and is safe for concurrent use.
type Sender struct {
	config          Config
	private, public string
}

// New returns a Sender.
func New(c Config) *Sender {
	return &Sender{config: c, private: encode(c.Key.Bytes()), public: PublicKey(c.Key)}
}

// PublicKey returns the public key for which browsers subscribe, in base64url.
func PublicKey(key *ecdh.PrivateKey) string { return encode(key.PublicKey().Bytes()) }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Send encrypts m for the browser of its subscription and makes one attempt to send it. A
// subscription that the push service no longer knows is removed.
func (s *Sender) Send(ctx context.Context, m notify.Message) error {
	to, found, err := s.config.Store.PushSubscription(ctx, m.To)
	if err != nil {
		return err
	}
	if !found {
		return &notify.SendError{Gone: true, Reason: "the session or its subscription has ended"}
	}
	body, err := json.Marshal(notify.PushOf(m, to.ShowNames))
	if err != nil {
		return err
	}
	resp, err := webpush.SendNotificationWithContext(ctx, body,
		&webpush.Subscription{Endpoint: to.Endpoint, Keys: webpush.Keys{P256dh: to.P256DH, Auth: to.Auth}},
		&webpush.Options{
			HTTPClient: s.config.Client, Subscriber: s.config.Contact, VAPIDPublicKey: s.public, VAPIDPrivateKey: s.private,
			TTL: int(notify.MessageLifetime.Seconds()), Urgency: urgency(m.Copy.Type), Topic: topic(m.ID),
		})
	if errors.Is(err, webpush.ErrMaxPadExceeded) {
		return &notify.SendError{Permanent: true, Reason: "the text is too long"}
	}
	if err != nil {
		// The error has the endpoint, which is a secret.
		return &notify.SendError{Reason: "the push service did not respond"}
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxResponse))
	return s.result(ctx, to.ID, resp)
}

// urgency tells the push service whether the device may wait (RFC 8030, section 5.3).
func urgency(t notify.Type) webpush.Urgency {
	if notify.PushUrgent(t) {
		return webpush.UrgencyHigh
	}
	return webpush.UrgencyNormal
}

// topic is the same in every attempt: the push service keeps one message of a topic
// (RFC 8030, section 5.4). It has at most 32 characters, as a UUID without hyphens.
func topic(id string) string { return strings.ReplaceAll(id, "-", "") }

// result returns nil if the push service has taken the message.
func (s *Sender) result(ctx context.Context, id string, resp *http.Response) error {
	f := &notify.SendError{Reason: fmt.Sprintf("the push service answered %d", resp.StatusCode)}
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		if err := s.config.Store.PushSubscriptionGone(ctx, id); err != nil {
			return err
		}
		f.Gone = true
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500, code < 400:
		f.Wait = retryAfter(resp.Header.Get("Retry-After"), s.config.Now())
	default:
		f.Permanent = true
	}
	return f
}

// retryAfter parses a Retry-After header (RFC 9110, section 10.2.3): seconds or a date. It
// returns zero if the header is absent or invalid.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// Suppressed reports whether nothing is sent to a subscription. That depends on none.
func (s *Sender) Suppressed(string) bool { return false }

// Segments returns 0: push messages cost nothing and go to devices that asked for them, so no
// limit counts them.
func (s *Sender) Segments(notify.Message) int { return 0 }
