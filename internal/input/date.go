package input

import (
	"regexp"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// DateForm matches YYYY-MM-DD, also of a day that does not exist.
var DateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// Date reads YYYY-MM-DD of the field at, which is required.
func Date(at, text string, f *wire.Faults) team.Date {
	if f.Has(at) {
		return ""
	}
	d, err := team.ParseDate(text)
	switch {
	case err != nil && DateForm.MatchString(text):
		f.Add(at, "invalid_date", "This date does not exist, or is before 2000 or after 2099.")
	case err != nil:
		f.Add(at, "invalid_date", "Write the date as YYYY-MM-DD.")
	}
	return d
}

// CheckTimeZone adds a fault unless zone, if any, is the name of a time zone.
func CheckTimeZone(zone *string, f *wire.Faults) {
	if zone != nil && !f.Has("/time_zone") && !message.KnownTimeZone(*zone) {
		f.Add("/time_zone", "invalid_time_zone", "This is not a time zone, such as Asia/Kolkata.")
	}
}
