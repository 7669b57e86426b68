package message

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
