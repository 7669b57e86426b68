package signin_test

import (
	"testing"

	"github.com/touchline/touchline/internal/signin"
)

func TestDigits(t *testing.T) {
	for typed, want := range map[string]string{
		"493817": "493817", " 493 817 ": "493817", "４９３８１７": "493817", "٤٩٣٨١٧": "493817", "४९३८१७": "493817", "𝟒𝟗𝟑𝟖𝟏𝟕": "493817",
		"": "", "12345a": "", "123": "", "12345678901": "", "+12345": "", "½½½½½½": "",
		"123-456": "123456", "123–456": "123456", "\u202a123456\u202c": "123456", "\u2068123456\u2069": "123456", "\u200b123456": "123456", "123456.": "123456", "#123456": "123456",
	} {
		got, ok := signin.Digits(typed)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: got %q, %v, want %q", typed, got, ok, want)
		}
	}
}
