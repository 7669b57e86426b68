package push

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// PublicKey returns the public key for which browsers subscribe, in base64url.
func PublicKey(key *ecdh.PrivateKey) string { return encode(key.PublicKey().Bytes()) }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

const (
	// webSize is how many bytes every message to a browser has, so that its length says nothing about its text. Push services take 4,096
	// (RFC 8030, section 7.2), but the bridge of Mozilla to Firefox for Android wraps the message in base64 and JSON, which must fit into 4,096:
	// 2,800 bytes make about 3,850.
	webSize = 2800
	// smallWebSize is the size of the second attempt, if the push service finds the first one too large.
	smallWebSize = 1400
	// webOverhead is what RFC 8188 and RFC 8291 add to the text: a header of 86 bytes, a delimiter, and a tag of 16.
	webOverhead = 86 + 1 + 16
)

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
	status, err := s.postWeb(ctx, m, to, text, webSize)
	if status == http.StatusRequestEntityTooLarge {
		_, err = s.postWeb(ctx, m, to, text, smallWebSize)
	}
	return err
}

// postWeb sends a text in a message of size bytes. It returns the status of the response, 0 without one.
func (s *Sender) postWeb(ctx context.Context, m message.Message, to message.PushSubscription, text message.PushText, size int) (status int, err error) {
	body, err := fit(text, size-webOverhead)
	if err != nil {
		return 0, err
	}
	resp, err := webpush.SendNotificationWithContext(ctx, body,
		&webpush.Subscription{Endpoint: to.Endpoint, Keys: webpush.Keys{P256dh: to.P256DH, Auth: to.Auth}},
		&webpush.Options{
			HTTPClient: s.config.Client, RecordSize: uint32(size), Subscriber: s.config.Contact, VAPIDPublicKey: s.public, VAPIDPrivateKey: s.private,
			TTL: int(message.MessageLifetime.Seconds()), Urgency: urgency(m.Copy.Type), Topic: topic(m.ID),
		})
	if err != nil {
		// The error has the endpoint, which is a secret.
		return 0, &message.SendError{Reason: "the push service did not respond"}
	}
	defer resp.Body.Close()
	response, _ := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	return resp.StatusCode, s.result(resp, response)
}

// fit returns text as JSON of at most limit bytes. It cuts the end of a body that is too long.
func fit(text message.PushText, limit int) ([]byte, error) {
	body := []rune(text.Body)
	for {
		encoded, err := json.Marshal(text)
		if err != nil || len(encoded) <= limit {
			return encoded, err
		}
		if len(body) == 0 {
			return nil, &message.SendError{Permanent: true, Reason: "the text is too long"}
		}
		const longest = 6 // bytes of a character in JSON
		body = body[:max(0, len(body)-max(1, (len(encoded)-limit)/longest))]
		text.Body = string(body) + "…"
	}
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

// otherKey is Apple's reason for 400 if a subscription was made for another key.
const otherKey = "VapidPkHashMismatch"

// result returns nil if the push service has taken the message.
func (s *Sender) result(resp *http.Response, response []byte) error {
	f := &message.SendError{Reason: fmt.Sprintf("the push service responded %d", resp.StatusCode)}
	switch code := resp.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone, code == http.StatusBadRequest && bytes.Contains(response, []byte(otherKey)):
		f.Gone = true
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		// The subscription is for another key, unless the signature is refused for its time, which concerns every subscription.
		f.Gone = s.clockAgrees(resp)
		if !f.Gone {
			f.Reason += ": check the clock of this machine"
		}
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500, code < 400:
		f.Wait = httpx.RetryAfter(resp.Header.Get("Retry-After"), s.config.Now())
	default:
		f.Permanent = true
	}
	return f
}

// maxClockDifference is far below the 12 hours for which a signature is valid.
const maxClockDifference = time.Hour

// clockAgrees reports whether the clock of this machine is about that of the push service.
func (s *Sender) clockAgrees(resp *http.Response) bool {
	theirs, err := http.ParseTime(resp.Header.Get("Date"))
	return err == nil && s.config.Now().Sub(theirs).Abs() < maxClockDifference
}
