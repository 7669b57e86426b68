package config_test

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/platform/phone"
)

func TestPrices(t *testing.T) {
	const india, britain = phone.Number("+919812300001"), phone.Number("+447400123456")
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{nil, "[] none 0 0 0 0 0 0"},
		{env("SMS_PRICES=IN=0.12,*=4.00", "SMS_BUDGET=500"), "[IN=0.12 *=4] 500 0.12 4 0.12 4 0.12 0.12"},
		{env("SMS_PRICES= in = 0.1234 ", "COUNTRIES=IN"), "[IN=0.1234] none 0.1234 0 0.1234 0 0.1234 0.1234"},
		{env("SMS_PRICES=IN=0.12,*=4.00, in/call = 0.60", "SMS_BUDGET=500, calls=100"), "[IN=0.12 *=4 IN/call=0.6] 500,calls=100 0.12 4 0.6 4 0.12 0.12"},
		{env("SMS_PRICES=*=0.12,*/call=9", "SMS_BUDGET=none,calls=1.5"), "[*=0.12 */call=9] none,calls=1.5 0.12 0.12 9 9 0.12 0.12"},
		{env("SMS_PRICES=*=0.12,IN/WhatsApp=0.1,IN/whatsapp_otp=0.2"), "[*=0.12 IN/whatsapp=0.1 IN/whatsapp_otp=0.2] none 0.12 0.12 0.12 0.12 0.1 0.2"},
		{env("SMS_PRICES=*=0.12,*/whatsapp=0.3,*/whatsapp_otp=0.11"), "[*=0.12 */whatsapp=0.3 */whatsapp_otp=0.11] none 0.12 0.12 0.12 0.12 0.3 0.12"},
	} {
		c := load(t, nil, tt.environ)
		if got := fmt.Sprint(c.SMSPrices, " ", c.SMSBudget, " ", c.SegmentPrice(india), " ", c.SegmentPrice(britain), " ", c.CallPrice(india), " ", c.CallPrice(britain), " ", c.ChatPrice(india), " ", c.ChatOTPPrice(india)); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.environ, got, tt.want)
		}
	}
}
