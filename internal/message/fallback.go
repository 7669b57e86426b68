package message

import (
	"slices"
	"time"
)

// Fallback says which channel sends a message that another channel cannot deliver, and when.
type Fallback struct {
	// To is the channel that sends the message instead.
	To Channel
	// After is how long the first channel may take to report that it sent the message.
	After time.Duration
	// Attempts is how often the first channel is tried if each attempt fails temporarily.
	Attempts int
}

// Now reports whether a message leaves on the other channel after the nth attempt failed.
func (f Fallback) Now(failed *SendError, attempt int) bool {
	return failed.Permanent || attempt >= f.Attempts
}

// Refuses reports whether the person chose other channels for a kind of message.
func (p Preferences) Refuses(kind Kind, channel Channel) bool {
	chosen, set := p.Channels[kind]
	return set && !slices.Contains(chosen, channel)
}
