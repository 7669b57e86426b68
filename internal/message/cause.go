package message

// Cause says why a message was not delivered, if a provider named a cause. It refines the
// reason of a delivery that failed.
type Cause string

// The causes.
const (
	// CauseUnknownNumber: the number does not exist.
	CauseUnknownNumber Cause = "unknown_number"
	// CauseNotMobile: the number is a landline, or cannot get SMS.
	CauseNotMobile Cause = "not_mobile"
	// CausePhoneOff: the phone was off or without network until the message expired.
	CausePhoneOff Cause = "phone_off"
	// CauseMemoryFull: the phone has no space for messages.
	CauseMemoryFull Cause = "memory_full"
	// CauseBlocked: the subscriber or the network does not allow messages to the number.
	CauseBlocked Cause = "blocked"
	// CauseOptedOut: the recipient asked the provider to get no messages.
	CauseOptedOut Cause = "opted_out"
	// CauseFiltered: the network refused the text or the sender, for example because a
	// template is not registered. An operator can correct it.
	CauseFiltered Cause = "filtered"
	// CauseNoWhatsApp: the number takes no WhatsApp messages of the service.
	CauseNoWhatsApp Cause = "no_whatsapp"
	// CauseUnknownAddress: the e-mail address does not exist.
	CauseUnknownAddress Cause = "unknown_address"
	// CauseMailboxFull: the mailbox has no space.
	CauseMailboxFull Cause = "mailbox_full"
	// CauseNoAnswer: a call rang and no person answered.
	CauseNoAnswer Cause = "no_answer"
	// CauseBusy: the number was busy.
	CauseBusy Cause = "busy"
	// CauseNoKey: a call was picked up, by a person or a mailbox, and no key was pressed.
	CauseNoKey Cause = "no_key"
	// CauseNoCall: no call can reach the number.
	CauseNoCall Cause = "no_call"
	// CauseNetwork: a network failed.
	CauseNetwork Cause = "network"
)

// RequestMessage is a message of a request as the outbox has it.
type RequestMessage struct {
	ID      string
	Channel Channel
	State   string
	// LeavesApp is false for a message in the app, and for one without an address.
	LeavesApp bool
}

// AllFailed reports whether a request has failed on every channel that leaves the app: on each
// the newest message failed. The ids of messages rise with time.
func AllFailed(messages []RequestMessage) bool {
	newest := map[Channel]RequestMessage{}
	for _, m := range messages {
		if channel := m.Channel.OfRequest(); m.ID > newest[channel].ID {
			newest[channel] = m
		}
	}
	for _, m := range newest {
		if m.LeavesApp && m.State != FailedState {
			return false
		}
	}
	return true
}
