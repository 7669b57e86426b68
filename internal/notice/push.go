package notice

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
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

// PushSubscriptions are the subscriptions of sessions. A subscription belongs to a session and ends with it.
type PushSubscriptions struct {
	DB    *database.DB
	Vault *vault.Vault
	// Key is the public key of the service, for which browsers subscribe, in base64url.
	Key string
	// Reachable reports whether messages may be sent to an address.
	Reachable func(netip.Addr) bool
	// PlainHTTP reports whether a URL with this host may be http.
	PlainHTTP func(host string) bool
	// Apps is true if the service sends to apps by FCM.
	Apps  bool
	NewID func() string
}

// Subscribe replaces the subscription of the caller's session. Errors: a validation fault.
func (p *PushSubscriptions) Subscribe(ctx context.Context, by actor.Actor, s message.PushSubscription) (message.PushSubscription, error) {
	if err := p.check(s); err != nil {
		return s, err
	}
	s.ID, s.CreatedAt = p.NewID(), p.DB.Now()
	return s, p.Save(ctx, by, s)
}

// Kinds returns the kinds of subscriptions that the service accepts.
func (p *PushSubscriptions) Kinds() []message.PushKind {
	if p.Apps {
		return []message.PushKind{message.PushWeb, message.PushFCM}
	}
	return []message.PushKind{message.PushWeb}
}

func (p *PushSubscriptions) check(s message.PushSubscription) error {
	var faults []fault.Field
	add := func(pointer, detail string) {
		faults = append(faults, fault.Field{Pointer: pointer, Code: "invalid_value", Detail: detail})
	}
	if s.Kind() == message.PushFCM {
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
