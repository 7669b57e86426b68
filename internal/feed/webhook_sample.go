package feed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// MessageOf returns the message of a change.
func MessageOf(c Change) WebhookMessage {
	return WebhookMessage{ID: fmt.Sprintf("msg_%s_%d", c.PlayerID, c.Sequence), Change: c, CreatedAt: c.At, UpdatedAt: c.At}
}

// SampleEvents are the types of events that have a sample.
func SampleEvents() []string { return append(EventTypes(ChangeTypes), TestEvent) }

// Sample returns a message with an event of this type, as a webhook gets it. id is the id of the
// player, or of the test. ok is false if there is no such event.
func Sample(event, id string, at time.Time) (m WebhookMessage, ok bool) {
	if event == TestEvent {
		return newTest(id, at), true
	}
	kind, prefixed := strings.CutPrefix(event, eventPrefix)
	if !prefixed || !slices.Contains(ChangeTypes, kind) {
		return m, false
	}
	c := Change{PlayerID: id, Sequence: 3, Type: kind, Party: actor.Guardian, GuardianID: sampleGuardian, GuardianStatus: kind, StudentStatus: "pending", At: at}
	switch kind {
	case "pending":
		c.Sequence = 1
	case "revoked":
		c.GuardianStatus = "rejected"
	case "availability", "removed":
		c.Party, c.GuardianID, c.GuardianStatus = "", "", "approved"
	}
	return MessageOf(c), true
}

// sampleGuardian is the guardian of a sample.
const sampleGuardian = "0198c3a0-0000-7000-8000-000000000001"

// newTest returns a message that only tests an endpoint.
func newTest(id string, at time.Time) WebhookMessage {
	return WebhookMessage{ID: "msg_test_" + id, Test: true, Change: Change{At: at}, State: MessageQueued, DueAt: at, CreatedAt: at, UpdatedAt: at}
}
