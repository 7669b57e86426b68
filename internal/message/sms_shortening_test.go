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

// TestBatchGivesWayBeforeCode: no text leaves out the short code and still names the batch.
func TestBatchGivesWayBeforeCode(t *testing.T) {
	t.Parallel()
	codes := 0
	for _, language := range []string{"en", "hi"} {
		for _, names := range [][2]string{{"Meera Nair", "Asha Rao"}, {"Venkataraman Subramaniam", "Krishnan Lakshmi Iye"}} {
			for _, host := range []string{"t.example", "touchline.sports-academy.example"} {
				for _, m := range requests(names[0], names[1], "https://"+host+"/a/AbCdEfGhIjKlMnOpQrStUv") {
					m.Language, m.Request.BatchNames = language, []string{"U12 Evening"}
					text := message.SMSText(m)
					code := strings.Contains(text, m.Request.ShortCode)
					if code {
						codes++
					}
					if !code && strings.Contains(text, "U12") {
						t.Errorf("the batch without the code: %s", text)
					}
				}
			}
		}
	}
	if codes == 0 {
		t.Errorf("%d texts have the code", codes)
	}
}
