package message_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestShortNameInRequest: a request that is too long keeps the first name of the student.
// Initials before it are left out. Punctuation that phones put into a name makes no SMS longer.
func TestShortNameInRequest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Priya Raghunathan":                        " Priya Raghunathan.",
		"Om Prakash Balasubramaniam Krishnan":      " Om Prakash.",
		"KL Prakash Balasubramaniam Krishnan":      " Prakash.",
		"K. L. Prakash Balasubramaniam Krishnan":   " Prakash.",
		"मीरा शर्मा":                               " मीरा",
		"Aisling O\u2019Neil-Balasubramaniam Khan": " Aisling.",
		"Bo D\u2019Souza":                          " Bo D'Souza.",
	} {
		m := request(message.RequestDetails{Party: actor.Guardian, CoachName: "Meera Nair", StudentName: name, ShortCode: "KQTWXY"},
			"https://touchline.sports-academy.example/a/AbCdEfGhIjKlMnOpQrStUv", false)
		text := message.SMSText(m)
		if !strings.Contains(text, want) {
			t.Errorf("request about %s: %q, want %q in it", name, text, want)
		}
		if n := message.Segments(text); message.IsGSM(want) && n > 1 {
			t.Errorf("request about %s takes %d SMS: %q", name, n, text)
		}
	}
}
