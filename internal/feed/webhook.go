package feed

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Limits of a webhook, in characters, and of the overlap of two secrets.
const (
	MaxWebhookURL         = 2000
	MaxWebhookDescription = 200
	DefaultSecretOverlap  = 24 * time.Hour
	MaxSecretOverlap      = 7 * 24 * time.Hour
)

// Reasons why a webhook is disabled.
const (
	// DisabledByOperator: an operator disabled it.
	DisabledByOperator = "operator"
	// DisabledGone: the endpoint responded 410, so it wants no more messages.
	DisabledGone = "gone"
	// DisabledFailing: the endpoint accepted nothing for WebhookFailsAfter.
	DisabledFailing = "failing"
)

// Webhook sends the changes of the feed to an endpoint of another service.
type Webhook struct {
	ID          string
	URL         string
	Description string
	// Types are the types of changes that are sent, in the order of ChangeTypes. An empty
	// list is all, also types of later releases.
	Types []string
	// DisabledAt is zero while the webhook is enabled. A disabled webhook keeps its position
	// in the feed, so that it continues there.
	DisabledAt     time.Time
	DisabledReason string
	// AcceptedAt is when the endpoint last accepted a message, exact to a minute.
	AcceptedAt time.Time
	// FailingSince is the first failed attempt after the last accepted one, or zero.
	FailingSince time.Time
	// OldSecretEndsAt is the time until which messages are also signed with the secret
	// before the last rotation, or zero.
	OldSecretEndsAt time.Time
	// Replaying says that the worker still queues messages of a replay.
	Replaying bool
	CreatedAt time.Time
	UpdatedAt time.Time
	version   int64 // guards updates
}

// Enabled reports whether messages are sent.
func (w Webhook) Enabled() bool { return w.DisabledAt.IsZero() }

// MissedChanges reports whether a disabled webhook has been off for longer than the feed keeps
// changes.
func (w Webhook) MissedChanges(now time.Time) bool { return now.Sub(w.DisabledAt) > ChangesKept }

// SignsWithOld reports whether messages are also signed with the secret before the last
// rotation.
func (w Webhook) SignsWithOld(now time.Time) bool { return w.OldSecretEndsAt.After(now) }

// Sent returns the types of changes that are sent, never an empty list.
func (w Webhook) Sent() []string {
	if len(w.Types) == 0 {
		return ChangeTypes
	}
	return w.Types
}

// ChangeTypes are the types of changes in the feed.
var ChangeTypes = []string{"pending", "approved", "rejected", "revoked", "availability", "removed"}

// eventPrefix precedes the type of a change in the type of its event.
const eventPrefix = "player."

// TestEvent is the type of a message that only tests an endpoint.
const TestEvent = "webhook.test"

// EventType returns the type of the event of a change: player.approved.
func EventType(changeType string) string { return eventPrefix + changeType }

// EventTypes returns the types of the events of changes.
func EventTypes(changeTypes []string) []string {
	types := make([]string, len(changeTypes))
	for i, t := range changeTypes {
		types[i] = EventType(t)
	}
	return types
}

// WebhookPatch changes a webhook. A nil field stays.
type WebhookPatch struct {
	URL         *string
	Description *string
	// Events selects the types of events; an empty list is all.
	Events  *[]string
	Enabled *bool
}

// webhookRules decide which webhooks are valid.
type webhookRules struct {
	// reachable reports whether messages may be sent to an address.
	reachable func(netip.Addr) bool
	// plainHTTP reports whether a URL with this host may be http.
	plainHTTP func(host string) bool
}

// apply changes w. It returns validation_failed with every fault.
func (p WebhookPatch) apply(w *Webhook, rules webhookRules, now time.Time) error {
	var f []fault.Field
	if p.URL != nil {
		if message := rules.checkURL(*p.URL); message != "" {
			f = append(f, fault.Field{Pointer: "/url", Code: "invalid_value", Detail: message})
		}
		w.URL = *p.URL
	}
	if p.Description != nil {
		w.Description = strings.TrimSpace(*p.Description)
		if utf8.RuneCountInString(w.Description) > MaxWebhookDescription || !utf8.ValidString(w.Description) || strings.ContainsFunc(w.Description, operator.Misleading) {
			f = append(f, fault.Field{Pointer: "/description", Code: "invalid_value", Detail: fmt.Sprintf("A description has at most %d characters, in one line.", MaxWebhookDescription)})
		}
	}
	if p.Events != nil {
		var unknown string
		if w.Types, unknown = changeTypesOf(*p.Events); unknown != "" {
			f = append(f, fault.Field{
				Pointer: "/events", Code: "invalid_value",
				Detail: fmt.Sprintf("There is no event type %q; there are %s.", unknown, strings.Join(EventTypes(ChangeTypes), ", ")),
			})
		}
	}
	if p.Enabled != nil && *p.Enabled != w.Enabled() {
		w.DisabledAt, w.DisabledReason = time.Time{}, ""
		if !*p.Enabled {
			w.DisabledAt, w.DisabledReason = now, DisabledByOperator
		}
	}
	w.UpdatedAt = now
	return fault.Validation(f)
}

// changeTypesOf returns the types of changes of these events, and the first unknown event.
func changeTypesOf(events []string) (types []string, unknown string) {
	for _, e := range events {
		if t, ok := strings.CutPrefix(e, eventPrefix); !ok || !slices.Contains(ChangeTypes, t) {
			return nil, e
		}
	}
	for _, t := range ChangeTypes {
		if slices.Contains(events, EventType(t)) {
			types = append(types, t)
		}
	}
	return types, ""
}

// checkURL returns why no message can be sent to a URL, or "". A name is resolved, and its
// address checked, when a message is sent.
func (r webhookRules) checkURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > MaxWebhookURL || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return fmt.Sprintf("This must be an https URL of at most %d characters.", MaxWebhookURL)
	case u.User != nil || u.Fragment != "" || strings.Contains(text, "#"):
		return "A webhook's URL has no user name, password or fragment. Messages are signed instead."
	case u.Scheme == "http" && !r.plainHTTP(u.Hostname()):
		return "This must be an https URL. Only an address in WEBHOOK_NETWORKS, or a name of the private network, may have http."
	}
	addr, err := netip.ParseAddr(u.Hostname())
	if err == nil && !r.reachable(addr) {
		return "Messages are not sent to private addresses, unless WEBHOOK_NETWORKS contains them."
	}
	return ""
}
