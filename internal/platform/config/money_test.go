package config_test

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/platform/phone"
)

func TestSegmentPrice(t *testing.T) {
	const india, britain = phone.Number("+919812300001"), phone.Number("+447400123456")
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{nil, "[] 0 0 0"},
		{env("SMS_PRICES=IN=0.12,*=4.00", "SMS_BUDGET=500"), "[IN=0.12 *=4] 500 0.12 4"},
		{env("SMS_PRICES= in = 0.1234 ", "COUNTRIES=IN"), "[IN=0.1234] 0 0.1234 0"},
	} {
		c := load(t, nil, tt.environ)
		if got := fmt.Sprint(c.SMSPrices, " ", c.SMSBudget, " ", c.SegmentPrice(india), " ", c.SegmentPrice(britain)); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.environ, got, tt.want)
		}
	}
}
