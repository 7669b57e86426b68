package message

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Recipient is the person that a delivery goes to.
type Recipient struct {
	// Number is the number of the account, also if the message goes to another address. It
	// is empty once the account is closed.
	Number      phone.Number
	Preferences Preferences
	// Stopped is true if the person wants no messages of the delivery's coach, and
	// AddressStopped if the holder of the address of the delivery wants no mail.
	Stopped, AddressStopped bool
	// AddressChanged is true for the copy of a notification to an e-mail address that the
	// recipient no longer has.
	AddressChanged bool
	// CoachSuspended is true for a request or reminder whose coach an operator suspended.
	CoachSuspended bool
	// CoachNumber and CoachZone are the number and the chosen time zone of the coach of a request, for calls.
	CoachNumber phone.Number
	CoachZone   string
}

// TeamRecipientStatus says which facts about the recipient of a coach's message have changed
// since it was written.
type TeamRecipientStatus struct {
	// RemovedAt is when the coach removed the player, SuspendedAt when an operator suspended
	// the coach; each is zero if that did not happen.
	RemovedAt, SuspendedAt time.Time
	// Number is the number of the party now.
	Number phone.Number
	// Disputed is true if the party disputed a request of the coach.
	Disputed bool
}

// DropReason returns why a message to a number must no longer be sent, or "".
func (s TeamRecipientStatus) DropReason(to phone.Number) string {
	switch {
	case !s.RemovedAt.IsZero():
		return ReasonPlayerRemoved
	case !s.SuspendedAt.IsZero():
		return ReasonNotWanted
	case s.Number != to:
		return ReasonContactChanged
	case s.Disputed:
		return ReasonDisputed
	}
	return ""
}

// urgentTypes are the notifications that neither wait for the end of quiet hours nor stop
// with a coach. They are about the recipient's decisions, about the decisions of families, and
// about security. A second message is part of the yes that it repeats.
var urgentTypes = []Type{
	GuardianApproved, GuardianRejected, GuardianRevoked, GuardianApprovalConfirmed, GuardianRejectConfirmed,
	StudentApproved, StudentRejected, StudentRevoked, StudentApprovalConfirmed, StudentRejectConfirmed,
	SecurityNotice, SecondMessage,
}

// Check decides whether a message of a kind may leave now. t is the type of a notification,
// else empty. dropReason is set if the message is dropped, and waitUntil if it waits; both are
// empty if it may leave. A copy about security also goes to the address at the time of its
// event: a thief of the account could change the address before the copy leaves.
func (r Recipient) Check(kind Kind, t Type, now time.Time) (dropReason string, waitUntil time.Time) {
	switch {
	case r.AddressStopped && t != SecurityNotice:
		return ReasonAddressStopped, time.Time{}
	case r.AddressChanged && t != SecurityNotice:
		return ReasonNotWanted, time.Time{}
	case kind == OTP || slices.Contains(urgentTypes, t):
		return "", time.Time{}
	case r.Stopped:
		return ReasonStopped, time.Time{}
	case r.CoachSuspended:
		return ReasonNotWanted, time.Time{}
	case kind == Team && r.Preferences.Channels[Team] != nil && len(r.Preferences.Channels[Team]) == 0:
		return ReasonNotWanted, time.Time{}
	case r.Preferences.QuietHours.Set():
		return "", r.Preferences.QuietHours.EndAfter(now.In(r.Preferences.Zone(r.Number))).UTC()
	}
	return "", time.Time{}
}
