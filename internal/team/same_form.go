package team

import "github.com/touchline/touchline/internal/platform/fault"

// ErrSentBefore returns idempotency_key_reused: something else is stored under the id of a form. A
// person who goes back in the browser can send a form that is saved with other content, which would
// be lost without this error.
func ErrSentBefore() error {
	return fault.New(fault.Invalid, "idempotency_key_reused", "This form was sent before with other content. Check it and send it again.")
}
