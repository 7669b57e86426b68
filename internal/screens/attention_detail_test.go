package screens_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/screens"
)

// A coach reads on which channels a request failed.
func TestAttentionDetail(t *testing.T) {
	t.Parallel()
	for channels, want := range map[string]string{
		"":           "The request could not be delivered. Check the number, then send it again.",
		"sms":        "The request could not be delivered by SMS. Check the number, then send it again.",
		"chat":       "The request could not be delivered by WhatsApp. Check the number, then send it again.",
		"email":      "The request could not be delivered by mail. Check the e-mail address, then send it again, or use SMS.",
		"email sms":  "The request could not be delivered by SMS or by mail. Check the number and the e-mail address, then send it again.",
		"email chat": "The request could not be delivered by WhatsApp or by mail. Check the number and the e-mail address, then send it again.",
	} {
		if got := screens.AttentionDetail(coach.Attention{Kind: coach.DeliveryFailed, Channels: strings.Fields(channels)}); got != want {
			t.Errorf("%q: got %q, want %q", channels, got, want)
		}
	}
	if got := screens.AttentionDetail(coach.Attention{Kind: coach.ConsentRejected}); !strings.HasPrefix(got, "They rejected") {
		t.Errorf("rejected: got %q", got)
	}
}
