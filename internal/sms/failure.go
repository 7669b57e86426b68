package sms

import "time"

// Failure says why a message was not accepted.
type Failure struct {
	// Refused says that the same message will never be accepted.
	Refused bool
	// Wait is how long the gateway asks not to be tried again; zero where it does
	// not say.
	Wait time.Duration
	// Reason is for the log and holds nothing of the message.
	Reason string
}

// Error returns the reason.
func (f *Failure) Error() string { return "send SMS: " + f.Reason }
