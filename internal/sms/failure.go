package sms

import "time"

// Failure is an attempt that the gateway did not accept.
type Failure struct {
	// Refused is true if the gateway will never accept this message.
	Refused bool
	// Wait is the gateway's Retry-After, or zero if it sent none.
	Wait time.Duration
	// Reason is safe to log: it contains no number, text or credential.
	Reason string
}

// Error returns the reason, prefixed with "send SMS".
func (f *Failure) Error() string { return "send SMS: " + f.Reason }
