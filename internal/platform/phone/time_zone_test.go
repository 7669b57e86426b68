package phone_test

import (
	"testing"
	"time"
	_ "time/tzdata" // as in the program

	"github.com/nyaruka/phonenumbers"

	"github.com/touchline/touchline/internal/platform/phone"
)

func TestTimeZone(t *testing.T) {
	for n, want := range map[phone.Number]string{
		"+919876543210": "Asia/Kolkata", "+6581234567": "Asia/Singapore", "+12125550100": "America/New_York", "+18085550100": "Pacific/Honolulu",
		"+213551234567": "Africa/Algiers", "+351912345678": "Europe/Lisbon", "+447400123456": "Europe/London", "": "UTC", "+999": "UTC",
	} {
		if got := n.TimeZone(); got != want {
			t.Errorf("%q is in the time zone %q, want %q", string(n), got, want)
		}
	}
}

func TestRegionTimeZone(t *testing.T) {
	for region, want := range map[string]string{
		"IN": "Asia/Kolkata", "SG": "Asia/Singapore", "NP": "Asia/Kathmandu", "": "UTC", "XX": "UTC",
		// libphonenumber names several time zones for the country code.
		"US": "America/New_York", "CA": "America/Toronto", "JM": "America/Jamaica", "ES": "Europe/Madrid", "RU": "Europe/Moscow",
		"KZ": "Asia/Almaty", "BR": "America/Sao_Paulo", "MX": "America/Mexico_City", "AU": "Australia/Sydney", "PT": "Europe/Lisbon",
	} {
		if got := phone.RegionTimeZone(region); got != want {
			t.Errorf("region %q has the time zone %q, want %q", region, got, want)
		}
	}
	// libphonenumber names a zone of another country, whose clock differs for half of the year.
	summer, winter := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for region, hours := range map[string]int{"DZ": 1, "LY": 2, "MA": 1, "NI": -6, "SS": 2, "CX": 7} {
		zone, err := time.LoadLocation(phone.RegionTimeZone(region))
		if err != nil {
			t.Fatal(err)
		}
		for _, day := range []time.Time{summer, winter} {
			if _, offset := day.In(zone).Zone(); offset != hours*3600 {
				t.Errorf("region %s has %s, %d s east of UTC on %s; want %d h", region, zone, offset, day.Format(time.DateOnly), hours)
			}
		}
	}
	for region := range phonenumbers.GetSupportedRegions() {
		zone := phone.RegionTimeZone(region)
		if _, err := time.LoadLocation(zone); err != nil || zone == "UTC" {
			t.Errorf("region %s has the time zone %q: %v", region, zone, err)
		}
	}
}
