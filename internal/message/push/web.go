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
	"strings"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// PublicKey returns the public key for which browsers subscribe, in base64url.
func PublicKey(key *ecdh.PrivateKey) string { return encode(key.PublicKey().Bytes()) }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// sendWeb encrypts a text for the browser of a subscription and sends it, unless the push
// service was slow shortly before.
func (s *Sender) sendWeb(ctx context.Context, m message.Message, to message.PushSubscription, text message.PushText) error {
	began := s.config.Clock()
	if err := s.slow.check(to.ID, began); err != nil {
		return err
	}
	defer func() { s.slow.record(to.ID, began, s.config.Clock()) }()
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	body, err := json.Marshal(text)
	if err != nil {
		return err
	}
	resp, err := webpush.SendNotificationWithContext(ctx, body,
		&webpush.Subscription{Endpoint: to.Endpoint, Keys: webpush.Keys{P256dh: to.P256DH, Auth: to.Auth}},
		&webpush.Options{
			HTTPClient: s.config.Client, Subscriber: s.config.Contact, VAPIDPublicKey: s.public, VAPIDPrivateKey: s.private,
			TTL: int(message.MessageLifetime.Seconds()), Urgency: urgency(m.Copy.Type), Topic: topic(m.ID),
		})
	if errors.Is(err, webpush.ErrMaxPadExceeded) {
		return &message.SendError{Permanent: true, Reason: "the text is too long"}
	}
	if err != nil {
		// The error has the endpoint, which is a secret.
		return &message.SendError{Reason: "the push service did not respond"}
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxResponse))
	return s.result(resp)
}

// urgency tells the push service whether the device may wait (RFC 8030, section 5.3).
func urgency(t message.Type) webpush.Urgency {
	if message.PushUrgent(t) {
		return webpush.UrgencyHigh
	}
	return webpush.UrgencyNormal
}

// topic is the same in every attempt: the push service keeps one message of a topic
// (RFC 8030, section 5.4). It has at most 32 characters, as a UUID without hyphens.
func topic(id string) string { return strings.ReplaceAll(id, "-", "") }

// result returns nil if the push service has taken the message.
func (s *Sender) result(resp *http.Response) error {
	f := &message.SendError{Reason: fmt.Sprintf("the push service responded %d", resp.StatusCode)}
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		f.Gone = true
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500, code < 400:
		f.Wait = httpx.RetryAfter(resp.Header.Get("Retry-After"), s.config.Now())
	default:
		f.Permanent = true
	}
	return f
}
