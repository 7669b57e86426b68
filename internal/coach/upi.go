package coach

import (
	"regexp"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/fault"
)

// upiID matches a UPI ID: a name, and the handle of a payment provider (NPCI).
var upiID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,255}@[A-Za-z][A-Za-z0-9]{1,63}$`)

// CheckUPIID returns the fault of a UPI ID, or "".
func CheckUPIID(text string) string {
	if upiID.MatchString(text) {
		return ""
	}
	return "This is not a UPI ID, such as meera@okbank."
}

// Events returns the events of an edit of old that notify the coach.
func (p Profile) Events(old Profile) []event.Event {
	if p.UPIID == old.UPIID {
		return nil
	}
	return []event.Event{{Type: event.UPIChanged, CoachID: p.ID}}
}

// setUPIID changes the UPI ID to which families pay. A person who only holds an open session
// must not redirect their money, so it needs an OTP of the last minutes.
func (p *Profile) setUPIID(id *string, recentOTP bool, now time.Time) error {
	if id == nil || *id == p.UPIID {
		return nil
	}
	if !recentOTP {
		return fault.New(fault.Forbidden, "fresh_otp_required", "Sign in again, with an OTP. Then change the UPI ID within 15 minutes.")
	}
	p.UPIID, p.UPIChangedAt = *id, now
	return nil
}
