package message_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// TestRecipientCheck checks which messages wait for the end of quiet hours and which stop
// with a coach.
func TestRecipientCheck(t *testing.T) {
	// 22:30 in India, where quiet hours end at 01:30 UTC.
	now := time.Date(2026, 3, 2, 17, 0, 0, 0, time.UTC)
	end := time.Date(2026, 3, 3, 1, 30, 0, 0, time.UTC)
	quiet := message.Recipient{Number: "+919812345671", Preferences: message.Preferences{QuietHours: message.QuietHours{Start: 21 * 60, End: 7 * 60}}}
	stopped := quiet
	stopped.Stopped = true
	suspended := quiet
	suspended.CoachSuspended = true
	corrected := quiet
	corrected.AddressChanged = true
	elsewhere := quiet
	elsewhere.Preferences.TimeZone = "Europe/London" // 17:00
	for _, tt := range []struct {
		name   string
		to     message.Recipient
		kind   message.Kind
		t      message.Type
		reason string
		wait   time.Time
	}{
		{"a question in quiet hours", quiet, message.Request, "", "", end},
		{"a reminder in quiet hours", quiet, message.Reminder, "", "", end},
		{"a digest in quiet hours", quiet, message.NotificationCopy, message.PendingReminder, "", end},
		{"an OTP in quiet hours", quiet, message.OTP, "", "", time.Time{}},
		{"a decision in quiet hours", quiet, message.NotificationCopy, message.GuardianApprovalConfirmed, "", time.Time{}},
		{"security in quiet hours", quiet, message.NotificationCopy, message.SecurityNotice, "", time.Time{}},
		{"a question at 17:00", elsewhere, message.Request, "", "", time.Time{}},
		{"no preferences", message.Recipient{Number: quiet.Number}, message.Request, "", "", time.Time{}},
		{"a question of a stopped coach", stopped, message.Request, "", "stopped", time.Time{}},
		{"a reminder of a stopped coach", stopped, message.Reminder, "", "stopped", time.Time{}},
		{"a question of a suspended coach", suspended, message.Request, "", "not_wanted", time.Time{}},
		{"a reminder of a suspended coach", suspended, message.Reminder, "", "not_wanted", time.Time{}},
		{"a removal by a stopped coach", stopped, message.NotificationCopy, message.PlayerRemoved, "stopped", time.Time{}},
		{"the person's decision about a stopped coach", stopped, message.NotificationCopy, message.GuardianRevoked, "", time.Time{}},
		{"the second message after a yes about a stopped coach", stopped, message.NotificationCopy, message.SecondMessage, "", time.Time{}},
		{"a decision to a former address", corrected, message.NotificationCopy, message.GuardianApprovalConfirmed, "not_wanted", time.Time{}},
		{"security to a former address", corrected, message.NotificationCopy, message.SecurityNotice, "", time.Time{}},
		{"an OTP after a stop", stopped, message.OTP, "", "", time.Time{}},
	} {
		reason, wait := tt.to.Check(tt.kind, tt.t, now)
		if reason != tt.reason || !wait.Equal(tt.wait) {
			t.Errorf("%s: %q, %s; want %q, %s", tt.name, reason, wait, tt.reason, tt.wait)
		}
	}
}

func TestTeamDropReason(t *testing.T) {
	t.Parallel()
	const to, other = phone.Number("+919812300001"), phone.Number("+919812300002")
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		status message.TeamRecipientStatus
		want   string
	}{
		"unchanged":              {message.TeamRecipientStatus{Number: to}, ""},
		"player removed":         {message.TeamRecipientStatus{Number: other, RemovedAt: at, SuspendedAt: at, Disputed: true}, message.ReasonPlayerRemoved},
		"coach suspended":        {message.TeamRecipientStatus{Number: other, SuspendedAt: at, Disputed: true}, message.ReasonNotWanted},
		"another number":         {message.TeamRecipientStatus{Number: other, Disputed: true}, message.ReasonContactChanged},
		"no number any more":     {message.TeamRecipientStatus{}, message.ReasonContactChanged},
		"disputed by the number": {message.TeamRecipientStatus{Number: to, Disputed: true}, message.ReasonDisputed},
	} {
		if got := tt.status.DropReason(to); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
