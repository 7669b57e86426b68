package input

import (
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// Date reads YYYY-MM-DD of the field at, which is required.
func Date(at, text string, f *wire.Faults) team.Date {
	if f.Has(at) {
		return ""
	}
	d, err := team.ParseDate(text)
	switch {
	case err != nil && dateForm.MatchString(text):
		f.Add(at, "invalid_date", "This date does not exist, or is before 2000 or after 2099.")
	case err != nil:
		f.Add(at, "invalid_date", "Write the date as YYYY-MM-DD.")
	}
	return d
}
