package message_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
)

// TestLongCharacters: which characters make an SMS longer, and what may stand in their place.
func TestLongCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"It's on.": "It's on.", "It’s on.": "It's on.", "“Bring water” – now…": `"Bring water" - now...`, "5\u00a0pm": "5 pm", "U+\u200eA": "U+A", "₹500": "Rs 500", "Málaga": "Malaga",
		"5½": "51/2", "é ü ñ €": "é ü ñ €", "a\u2028b": "a\nb", "ＳＴＯＰ": "STOP", "\u2011": "-",
		"Well done 😀": "Well done 😀", "कल": "कल", "a\u200db": "a\u200db",
	} {
		found, replaced, without := message.LongCharacters(text)
		if replaced != want {
			t.Errorf("%q is replaced by %q, want %q", text, replaced, want)
		}
		if (len(found) > 0) == message.IsGSM(text) || !message.IsGSM(without) {
			t.Errorf("%q: found %v, without them %q", text, found, without)
		}
	}
	found, replaced, _ := message.LongCharacters("’’“" + strings.Repeat("a", 150))
	if len(found) != 2 || found[0] != (message.LongCharacter{Character: "’", Replacement: "'", Replaceable: true}) || message.Segments(replaced) != 1 {
		t.Errorf("found %v", found)
	}
	for character, want := range map[string]string{"’": "’", "\u200e": "U+200E", "\u00a0": "U+00A0", "\ufe0f": "U+FE0F", "😀": "😀"} {
		if got := (message.LongCharacter{Character: character}).Shown(); got != want {
			t.Errorf("%q is shown as %s", character, got)
		}
	}
}
