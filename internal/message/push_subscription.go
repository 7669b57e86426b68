package message

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// MaxPushSubscriptions is how many subscriptions an account has. One more ends the oldest.
	MaxPushSubscriptions = 20
	// MaxPushEndpoint is the longest URL of a push service, in bytes.
	MaxPushEndpoint = 2000
	// MaxPushToken is the longest registration token of FCM, in bytes.
	MaxPushToken = 4096
	// pushSecretBytes is the length of the authentication secret (RFC 8291, section 3.2).
	pushSecretBytes = 16
)

// PushKind is how a device receives push messages.
type PushKind string

const (
	// PushWeb is Web Push, for browsers.
	PushWeb PushKind = "web"
	// PushFCM is Firebase Cloud Messaging, for apps.
	PushFCM PushKind = "fcm"
)

// PushSubscription is how the device of one session receives push messages. That of a browser
// has the values of PushSubscription.toJSON of the Push API; an app's subscription has a Token alone.
type PushSubscription struct {
	ID string
	// Endpoint is the URL of the browser's push service. With it anyone can send messages.
	Endpoint string
	// P256DH is the public key of the browser and Auth its secret, in base64url (RFC 8291).
	P256DH, Auth string
	// Token is the registration token of an app at FCM. With it any account of the app's
	// project can send messages.
	Token string
	// ShowNames allows names and the text of notifications on a locked screen.
	ShowNames bool
	CreatedAt time.Time
}

// Kind returns how the device receives messages.
func (s PushSubscription) Kind() PushKind {
	if s.Token != "" {
		return PushFCM
	}
	return PushWeb
}

// PushStore stores subscriptions; package store implements it. A subscription belongs to a
// session and ends with it.
type PushStore interface {
	// SavePushSubscription replaces the subscription of the caller's session. It removes those
	// of other sessions of this role with the same endpoint or token: the device has a new
	// user.
	SavePushSubscription(ctx context.Context, by actor.Actor, s PushSubscription) error
	// SessionPushSubscription returns the subscription of the caller's session, or false.
	SessionPushSubscription(ctx context.Context, by actor.Actor) (s PushSubscription, ok bool, err error)
	// DeletePushSubscription removes the subscription of the caller's session, if there is one.
	DeletePushSubscription(ctx context.Context, by actor.Actor) error
}

// PushSubscriptions manages the subscriptions of sessions.
type PushSubscriptions struct {
	Store PushStore
	// Key is the public key of the service, for which browsers subscribe, in base64url.
	Key string
	// Reachable reports whether messages may be sent to an address.
	Reachable func(netip.Addr) bool
	// PlainHTTP reports whether a URL with this host may be http.
	PlainHTTP func(host string) bool
	// Apps is true if the service sends to apps by FCM.
	Apps  bool
	Now   func() time.Time
	NewID func() string
}

// Subscribe replaces the subscription of the caller's session. Errors: a validation fault.
func (p *PushSubscriptions) Subscribe(ctx context.Context, by actor.Actor, s PushSubscription) (PushSubscription, error) {
	if err := p.check(s); err != nil {
		return s, err
	}
	s.ID, s.CreatedAt = p.NewID(), p.Now()
	return s, p.Store.SavePushSubscription(ctx, by, s)
}

// Kinds returns the kinds of subscriptions that the service accepts.
func (p *PushSubscriptions) Kinds() []PushKind {
	if p.Apps {
		return []PushKind{PushWeb, PushFCM}
	}
	return []PushKind{PushWeb}
}

func (p *PushSubscriptions) check(s PushSubscription) error {
	var faults []fault.Field
	add := func(pointer, detail string) {
		faults = append(faults, fault.Field{Pointer: pointer, Code: "invalid_value", Detail: detail})
	}
	if s.Kind() == PushFCM {
		if !p.Apps {
			add("/kind", "This service sends no push messages by FCM.")
		}
		if len(s.Token) > MaxPushToken || strings.ContainsFunc(s.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			add("/token", fmt.Sprintf("This must be the registration token of an app, of at most %d characters.", MaxPushToken))
		}
		return fault.Validation(faults)
	}
	if detail := p.checkEndpoint(s.Endpoint); detail != "" {
		add("/endpoint", detail)
	}
	key, err := decodeBase64URL(s.P256DH)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		add("/keys/p256dh", "This must be a point of P-256, uncompressed, in base64url.")
	}
	if secret, err := decodeBase64URL(s.Auth); err != nil || len(secret) != pushSecretBytes {
		add("/keys/auth", fmt.Sprintf("This must be %d bytes in base64url.", pushSecretBytes))
	}
	return fault.Validation(faults)
}

// checkEndpoint returns why no message can be sent to an endpoint, or "". The address of a
// name is checked when a message is sent.
func (p *PushSubscriptions) checkEndpoint(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > MaxPushEndpoint || u.Hostname() == "" || u.Opaque != "" || u.User != nil || strings.Contains(text, "#"),
		u.Scheme != "https" && (u.Scheme != "http" || !p.PlainHTTP(u.Hostname())):
		return fmt.Sprintf("This must be the https URL of a push service, of at most %d characters.", MaxPushEndpoint)
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !p.Reachable(addr) {
		return "Messages are not sent to private addresses."
	}
	return ""
}

// decodeBase64URL accepts padding, which some clients send.
func decodeBase64URL(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}
