package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestLongSMS: one quotation mark of an editor makes three SMS of one. The preview names it, and offers the plain one. A
// text in Hindi is as long as it is.
func TestLongSMS(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url)
		coach := s.Coach(t, coachNumber)
		asha := coach.AddPlayer(t, touchlinetest.Minor("+919812300011", "")).String("player_id")
		preview := func(text string) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/messages/preview", newMessage(text, []string{"sms"}, asha)).Want(t, 200)
		}
		long := strings.Repeat("word ", 20)
		got := preview(long + "It’s on.")
		if got.String("segments") != "3" || got.String("shorter.segments") != "1" || got.String("shorter.text") != long+"It's on." ||
			!strings.Contains(string(got.Body), `"long_characters":[{"character":"’","replacement":"'"}]`) {
			t.Errorf("one quotation mark: %s", got.Body)
		}
		if got := preview(long + "Well done 😀"); !strings.Contains(string(got.Body), `"long_characters":[{"character":"😀","replacement":null}],"shorter":null`) {
			t.Errorf("an emoji: %s", got.Body)
		}
		for _, text := range []string{long + "It's on.", "It’s on. Come.", strings.Repeat("कल अभ्यास है। ", 10)} {
			if got := preview(text); !strings.Contains(string(got.Body), `"long_characters":[],"shorter":null`) && !strings.Contains(text, "’") {
				t.Errorf("%s: %s", text, got.Body)
			}
		}

		b := signInPages(t, s, "coach", coachNumber)
		form := []string{"for", "player:" + asha, "audience", "guardian", "channels", "sms", "text", long + "It’s on.", "step", "preview"}
		b.Open("/coach/messages/write")
		page := b.Press("See how it arrives", form...)
		wantText(t, "the preview", page, []string{"It takes 3 SMS.", "These characters make the SMS longer", "Instead: '", "Without them it takes 1 SMS."}, nil)
		page = b.Press("Replace them")
		wantText(t, "the preview of the replaced text", page, []string{"It takes 1 SMS.", "It's on."}, []string{"These characters make the SMS longer"})
	})
}
