package coach

import "time"

// Validity says whether a document with an expiry date is valid, ends soon or has ended.
type Validity string

// The validities.
const (
	Unlimited Validity = "unlimited" // no expiry date
	Valid     Validity = "valid"
	EndsSoon  Validity = "ends_soon" // in at most 30 days
	Ended     Validity = "ended"     // its last day, in UTC, has passed
)

// Validity returns the validity of the document.
func (d Document) Validity(now time.Time) Validity {
	switch {
	case d.ExpiresOn == "":
		return Unlimited
	case !now.Before(d.ExpiresOn.daysBefore(-1)):
		return Ended
	case !now.Before(d.ExpiresOn.daysBefore(expiryNotificationDays[0])):
		return EndsSoon
	}
	return Valid
}
