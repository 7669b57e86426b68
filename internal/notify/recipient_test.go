package notify_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/platform/phone"
)

// TestRecipientCheck checks which messages wait for the end of quiet hours and which stop
// with a coach.
func TestRecipientCheck(t *testing.T) {
	// 22:30 in India, where quiet hours end at 01:30 UTC.
	now := time.Date(2026, 3, 2, 17, 0, 0, 0, time.UTC)
	end := time.Date(2026, 3, 3, 1, 30, 0, 0, time.UTC)
	quiet := notify.Recipient{Number: "+919812345671", Preferences: notify.Preferences{QuietHours: notify.QuietHours{Start: 21 * 60, End: 7 * 60}}}
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
		to     notify.Recipient
		kind   notify.Kind
		t      notify.Type
		reason string
		wait   time.Time
	}{
		{"a question in quiet hours", quiet, notify.Request, "", "", end},
		{"a reminder in quiet hours", quiet, notify.Reminder, "", "", end},
		{"a digest in quiet hours", quiet, notify.NotificationCopy, notify.PendingReminder, "", end},
		{"an OTP in quiet hours", quiet, notify.OTP, "", "", time.Time{}},
		{"a decision in quiet hours", quiet, notify.NotificationCopy, notify.GuardianApprovalConfirmed, "", time.Time{}},
		{"security in quiet hours", quiet, notify.NotificationCopy, notify.SecurityNotice, "", time.Time{}},
		{"a question at 17:00", elsewhere, notify.Request, "", "", time.Time{}},
		{"no preferences", notify.Recipient{Number: quiet.Number}, notify.Request, "", "", time.Time{}},
		{"a question of a stopped coach", stopped, notify.Request, "", "stopped", time.Time{}},
		{"a reminder of a stopped coach", stopped, notify.Reminder, "", "stopped", time.Time{}},
		{"a question of a suspended coach", suspended, notify.Request, "", "not_wanted", time.Time{}},
		{"a reminder of a suspended coach", suspended, notify.Reminder, "", "not_wanted", time.Time{}},
		{"a removal by a stopped coach", stopped, notify.NotificationCopy, notify.PlayerRemoved, "stopped", time.Time{}},
		{"the person's decision about a stopped coach", stopped, notify.NotificationCopy, notify.GuardianRevoked, "", time.Time{}},
		{"a decision to a former address", corrected, notify.NotificationCopy, notify.GuardianApprovalConfirmed, "not_wanted", time.Time{}},
		{"security to a former address", corrected, notify.NotificationCopy, notify.SecurityNotice, "", time.Time{}},
		{"an OTP after a stop", stopped, notify.OTP, "", "", time.Time{}},
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
		status notify.TeamRecipientStatus
		want   string
	}{
		"unchanged":              {notify.TeamRecipientStatus{Number: to}, ""},
		"player removed":         {notify.TeamRecipientStatus{Number: other, RemovedAt: at, SuspendedAt: at, Disputed: true}, notify.ReasonPlayerRemoved},
		"coach suspended":        {notify.TeamRecipientStatus{Number: other, SuspendedAt: at, Disputed: true}, notify.ReasonNotWanted},
		"another number":         {notify.TeamRecipientStatus{Number: other, Disputed: true}, notify.ReasonContactChanged},
		"no number any more":     {notify.TeamRecipientStatus{}, notify.ReasonContactChanged},
		"disputed by the number": {notify.TeamRecipientStatus{Number: to, Disputed: true}, notify.ReasonDisputed},
	} {
		if got := tt.status.DropReason(to); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
