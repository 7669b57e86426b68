package phone_test

import (
	"testing"

	"github.com/touchline/touchline/internal/phone"
)

func TestTimeZone(t *testing.T) {
	for n, want := range map[phone.Number]string{"+919876543210": "Asia/Calcutta", "+6581234567": "Asia/Singapore", "": "UTC", "+999": "UTC"} {
		if got := n.TimeZone(); got != want {
			t.Errorf("%q is in the time zone %q, want %q", string(n), got, want)
		}
	}
}
