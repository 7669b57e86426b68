package config_test

import (
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

func TestSMSCurrency(t *testing.T) {
	for want, environ := range map[string][]string{
		"INR": nil, "GBP": env("DEFAULT_REGION=gb", "COUNTRIES=GB"), "EUR": env("DEFAULT_REGION=HR"), "USD": env("SMS_PRICES=IN=0.0083USD,*=0.05USD"),
	} {
		if got := load(t, nil, environ).SMSCurrency; got != want {
			t.Errorf("%q: got %s, want %s", environ, got, want)
		}
	}
}

// TestRegionCurrency: fees have the currency of DEFAULT_REGION, so it must be one in which
// people pay.
func TestRegionCurrency(t *testing.T) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, a := range letters {
		for _, b := range letters {
			region := string(a) + string(b)
			if got := config.RegionCurrency(region); phone.KnownRegion(region) && !team.KnownCurrency(got) {
				t.Errorf("%s has the currency %s, which fees do not know", region, got)
			}
		}
	}
}
