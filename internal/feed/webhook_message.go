package feed

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/wire"
)

// States of a message.
const (
	MessageQueued    = "queued"
	MessageDelivered = "delivered"
	MessageFailed    = "failed"
)

// WebhookMessage is an event for one webhook. It has the data of a Change, so it names no
// person.
type WebhookMessage struct {
	// ID is the same for every attempt and every replay of an event:
	// msg_<player>_<sequence>, or msg_test_<id> for a test.
	ID string
	// Test says that the message only tests the endpoint. Of Change only At is set.
	Test bool
	// Change is the change; its Position is not set.
	Change
	State string
	// Attempts is the number of attempts since the message was queued or replayed, including
	// the one in progress, so at least 1 in After.
	Attempts int
	// DueAt is the next attempt of a queued message.
	DueAt time.Time
	// Lease identifies the claim of a message that is being sent.
	Lease string
	// Status and Error are of the last attempt: the HTTP status, 0 if there was no
	// response, and why it failed, without personal data.
	Status int
	Error  string
	// Log has the newest attempts, at most loggedAttempts, oldest first.
	Log       []LoggedAttempt
	CreatedAt time.Time
	UpdatedAt time.Time
}

// EventType returns the type of the event.
func (m WebhookMessage) EventType() string {
	if m.Test {
		return TestEvent
	}
	return EventType(m.Type)
}

// WebhookMessagesKept is how long a message is kept after it was delivered or failed.
const WebhookMessagesKept = 30 * 24 * time.Hour

// webhookPayload is the body of a message.
type webhookPayload struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	// Data is a changeResponse, or an empty object in a test.
	Data any `json:"data"`
}

// Payload returns the body of m, which is the same in every attempt.
func (m WebhookMessage) Payload() ([]byte, error) {
	payload := webhookPayload{Type: m.EventType(), Timestamp: wire.Timestamp(m.At), Data: struct{}{}}
	if !m.Test {
		payload.Data = newChangeResponse(m.Change)
	}
	return json.Marshal(payload)
}

// webhookRetries are the waits after each failed attempt: the schedule of the Standard
// Webhooks specification, over 75 hours. After the last attempt the message has failed.
var webhookRetries = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	// WebhookFailsAfter is how long an endpoint may accept nothing. When a message of such an
	// endpoint has failed for good, its webhook is disabled.
	WebhookFailsAfter = 72 * time.Hour
	// webhookPause is the minimum pause of a webhook after one of pauseStatuses.
	webhookPause = 5 * time.Second
	// maxRetryAfter limits the pause for which an endpoint asks.
	maxRetryAfter = 24 * time.Hour
)

// statusGone is the HTTP status of an endpoint that wants no more messages.
const statusGone = 410

// pauseStatuses are the statuses that say that the endpoint, and not the message, is the reason: no
// response, too many requests, bad gateway, unavailable, gateway timeout.
var pauseStatuses = []int{0, 429, 502, 503, 504}

// WebhookAttempt is the result of one attempt to send a message.
type WebhookAttempt struct {
	// Status is the HTTP status of the response, or 0 if there was none.
	Status int
	// Error says why the attempt failed, without the URL; "" if the endpoint responded.
	Error string
	// RetryAfter is the time for which the endpoint asks to wait, or 0.
	RetryAfter time.Duration
	// Body is the beginning of the response, at most 1,024 characters of valid UTF-8.
	Body string
	// Took is the duration of the attempt.
	Took time.Duration
}

// Accepted reports whether the endpoint accepted the message.
func (a WebhookAttempt) Accepted() bool { return a.Status >= 200 && a.Status < 300 }

// LoggedAttempt is an attempt in the log of a message.
type LoggedAttempt struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"`
	Error  string    `json:"error,omitempty"`
	// Response is the beginning of the body, as the endpoint sent it.
	Response     string `json:"response,omitempty"`
	Milliseconds int64  `json:"ms"`
}

func statusError(status int) string { return fmt.Sprintf("responded %d", status) }

// loggedAttempts is the number of attempts of the schedule.
const loggedAttempts = 10

// logged returns the log of m with its newest attempt.
func (m WebhookMessage) logged(r WebhookResult) []LoggedAttempt {
	all := append(slices.Clone(m.Log), LoggedAttempt{At: r.At.UTC(), Status: r.Status, Error: r.Error, Response: r.Body, Milliseconds: r.Took.Milliseconds()})
	return all[max(0, len(all)-loggedAttempts):]
}

// WebhookResult is the effect of an attempt.
type WebhookResult struct {
	WebhookAttempt
	// At is the end of the attempt.
	At time.Time
	// State is the new state of the message. DueAt is the next attempt if it is queued.
	State string
	DueAt time.Time
	// PauseUntil is the time until which the webhook sends nothing, or zero.
	PauseUntil time.Time
	// Gone says that the endpoint wants no more messages.
	Gone bool
}

// DisabledBy returns why the result of a failed attempt disables the webhook, or "". The endpoint
// has failed since failingSince.
func (m WebhookMessage) DisabledBy(r WebhookResult, failingSince, now time.Time) string {
	switch {
	case r.Gone:
		return DisabledGone
	case r.State == MessageFailed && !m.Test && now.Sub(failingSince) >= WebhookFailsAfter:
		return DisabledFailing
	}
	return ""
}

// After returns the effect of an attempt. jitter is between 0 and 1; it adds up to a tenth to
// the wait, so that attempts after an outage are not made at the same time.
func (m WebhookMessage) After(a WebhookAttempt, now time.Time, jitter float64) WebhookResult {
	r := WebhookResult{WebhookAttempt: a, At: now, State: MessageQueued, Gone: a.Status == statusGone}
	if a.Accepted() {
		r.State = MessageDelivered
		return r
	}
	if a.Error == "" {
		r.Error = statusError(a.Status)
	}
	pause := min(a.RetryAfter, maxRetryAfter)
	if slices.Contains(pauseStatuses, a.Status) {
		pause = max(pause, webhookPause)
		r.PauseUntil = now.Add(pause)
	}
	if m.Test || m.Attempts > len(webhookRetries) {
		r.State = MessageFailed
		return r
	}
	wait := webhookRetries[m.Attempts-1]
	wait += time.Duration(jitter * float64(wait) / 10)
	r.DueAt = now.Add(max(wait, pause))
	return r
}
