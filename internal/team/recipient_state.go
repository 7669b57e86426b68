package team

import (
	"slices"
	"time"
)

// State is the state of a message to one recipient.
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

// RecipientState is a recipient with the state of the message on each channel.
type RecipientState struct {
	Recipient
	Position int
	Channels []SendState
}

// Best returns the channel with the best state, the first of several.
func (r RecipientState) Best() SendState {
	return slices.MaxFunc(r.Channels, func(a, b SendState) int {
		return slices.Index(States, a.State) - slices.Index(States, b.State)
	})
}
