package message_test

import (
	"testing"

	"github.com/touchline/touchline/internal/message"
)

func TestKnownTimeZone(t *testing.T) {
	for name, want := range map[string]bool{
		"Asia/Kolkata": true, "America/Argentina/Buenos_Aires": true, "Etc/GMT+5": true, "UTC": true,
		"": false, "Local": false, "Asia/Nowhere": false, "posix/Asia/Kolkata": false, "../etc/passwd": false, "Asia/../Asia/Kolkata": false, "IST": false,
	} {
		if got := message.KnownTimeZone(name); got != want {
			t.Errorf("KnownTimeZone(%q) = %t, want %t", name, got, want)
		}
	}
}
