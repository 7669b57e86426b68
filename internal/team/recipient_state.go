package team

import "time"

// State is how far a message has come.
type State string

// The states, the best last.
const (
	LeftOut   State = "left_out"
	Failed    State = "failed"
	Queued    State = "queued"
	Sent      State = "sent"
	Delivered State = "delivered"
)

// States lists every state, the best last.
var States = []State{LeftOut, Failed, Queued, Sent, Delivered}

// SendState is a message to one recipient on one channel.
type SendState struct {
	Channel Channel
	State   State
	// Reason explains State; it may be empty.
	Reason string
	At     time.Time
}

// RecipientState is a recipient and what became of the message.
type RecipientState struct {
	Recipient
	Position int
	Channels []SendState
}

// Best returns the channel on which the message came farthest, the first of several.
func (r RecipientState) Best() SendState {
	rank := func(s State) int {
		for i, state := range States {
			if s == state {
				return i
			}
		}
		return -1
	}
	best := r.Channels[0]
	for _, c := range r.Channels[1:] {
		if rank(c.State) > rank(best.State) {
			best = c
		}
	}
	return best
}
