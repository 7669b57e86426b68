package approval_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
)

// A coach reads how long a phone was off, and the cause only of a message that failed.
func TestDeliveryDetail(t *testing.T) {
	queued := time.Date(2026, 3, 2, 17, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		state, reason string
		cause         message.Cause
		after         time.Duration
		want          string
	}{
		{"failed", "unreachable", "phone_off", 50 * time.Hour, "off or without network for 2 days"},
		{"failed", "unreachable", "phone_off", 47 * time.Hour, "for 47 hours"},
		{"failed", "gave_up", "phone_off", 90 * time.Minute, "for an hour"},
		{"failed", "unreachable", "phone_off", time.Minute, "for less than an hour"},
		{"failed", "unreachable", "", 0, "could not be reached"},
		{"failed", "refused", "unknown_number", 0, "This number does not exist."},
		{"failed", "refused", "something new", 0, "cannot reach this number"},
		{"queued", "retrying", "phone_off", 0, "did not take the message yet"},
		{"failed", "refused", "unknown_address", 0, "This e-mail address does not exist."},
		{"failed", "address_stopped", "", 0, "wants no mail from us"},
		{"delivered", "", "", 0, ""},
	} {
		d := approval.Delivery{Channel: "sms", State: tt.state, Reason: tt.reason, Cause: string(tt.cause), QueuedAt: queued, At: queued.Add(tt.after)}
		if tt.cause == message.CauseUnknownAddress {
			d.Channel = "email"
		}
		if got := d.Detail(); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s %s %s: got %q, want %q in it", tt.state, tt.reason, tt.cause, got, tt.want)
		}
	}
}

// A held message names what it waits for. Only a limit of the number speaks of the number.
func TestHoldDetail(t *testing.T) {
	due := time.Date(2026, 3, 4, 17, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		channel message.Channel
		hold    message.Hold
		want    string
	}{
		{"sms", message.HoldNumber, "Waiting: too many messages to this number. It goes out by itself."},
		{"email", message.HoldNumber, "Waiting: too many messages to this address. It goes out by itself."},
		{"sms", message.HoldCoach, "Waiting: you have sent many messages today. It goes out by itself."},
		{"email", message.HoldService, "Waiting: this service has reached a limit on messages. It goes out by itself."},
		{"sms", message.HoldBudget, "Waiting: this service has spent its money for SMS for now. It goes out by itself."},
		{"sms", message.HoldOverBudget, "Waiting: this message costs more than this service may spend. Tell the people who run it."},
		{"sms", message.HoldResend, "Waiting until 2026-03-04T17:00:00Z: this person got the question a short time ago. It goes out by itself."},
	} {
		d := approval.Delivery{Channel: tt.channel, State: "queued", Reason: "held", Hold: tt.hold, DueAt: due}
		if got := d.Detail(); got != tt.want {
			t.Errorf("%s by %s: got %q, want %q", tt.hold, tt.channel, got, tt.want)
		}
	}
}
