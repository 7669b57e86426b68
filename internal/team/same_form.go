package team

import "github.com/touchline/touchline/internal/fault"

// checkSame returns idempotency_key_reused unless what is stored under the id of a form is what
// the form was sent with. A person who goes back in the browser can send a form that is saved with
// other content, which would be lost without this.
func checkSame(same bool) error {
	if same {
		return nil
	}
	return fault.New(fault.Invalid, "idempotency_key_reused", "This form was sent before with other content. Check it and send it again.")
}
