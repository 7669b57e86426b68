package phone_test

import (
	"testing"

	"github.com/touchline/touchline/internal/phone"
)

func TestTimeZone(t *testing.T) {
	for n, want := range map[phone.Number]string{"+919876543210": "Asia/Kolkata", "+6581234567": "Asia/Singapore", "": "UTC", "+999": "UTC"} {
		if got := n.TimeZone(); got != want {
			t.Errorf("%q is in the time zone %q, want %q", string(n), got, want)
		}
	}
}

func TestRegionTimeZone(t *testing.T) {
	for region, want := range map[string]string{"IN": "Asia/Kolkata", "SG": "Asia/Singapore", "NP": "Asia/Kathmandu", "": "UTC", "XX": "UTC"} {
		if got := phone.RegionTimeZone(region); got != want {
			t.Errorf("region %q has the time zone %q, want %q", region, got, want)
		}
	}
}
