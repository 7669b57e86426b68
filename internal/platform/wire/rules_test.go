package wire_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/wire"
)

func TestText(t *testing.T) {
	tests := []struct {
		rules, in string
		want      string
		code      string // of the fault, if any
	}{
		{"", "  a  ", "a", ""},
		{"", "e\u0301", "é", ""},
		{"", "a\nb", "a\nb", "invalid_characters"},
		{"", "98123\t45678", "98123 45678", ""},
		{"name", "Asha\tRao\t", "Asha Rao", ""},
		{"", "a\u202eb", "ab", ""},
		{"", "a\u2028b", "a\u2028b", "invalid_characters"},
		{"lines", "a\r\n\tb", "a\n\tb", ""},
		{"lines", "a\u2028b", "a\u2028b", ""},
		{"lines", "a\x00b", "a\x00b", "invalid_characters"},
		{"name", "", "", ""},
		{"name", "7", "7", ""},
		{"name", "मेज़", "मेज़", ""},
		{"name", "-", "-", "invalid_characters"},
		{"name", "a\u202eb", "a\u202eb", "invalid_characters"},
		{"name", "a\u2066b", "ab", ""},
		{"name", "\u3164", "", ""},
		{"name,min=1", "\u200b\u202e\u3164 ", "", "too_short"},
		{"name,lines", "a\u2068b\u2069\n\u200bc", "ab\n\u200bc", ""},
		{"name,lines", "a\u202eb", "a\u202eb", "invalid_characters"},
		{"lines,min=1", "\ufeff\n\u200b", "", "too_short"},
		{"max=1", "\u200bab", "ab", "too_long"},
		{"max=2", "\u200ba\u200bb", "ab", ""},
		{"min=1", " ", "", "too_short"},
		{"min=2", "a", "a", "too_short"},
		{"max=2", "éé", "éé", ""},
		{"max=2", "abc", "abc", "too_long"},
		{"oneof=a|b", " b ", "b", ""},
		{"oneof=a|b", "B", "B", "invalid_value"},
		{"secret", " \x00 ", " \x00 ", ""},
		{"secret,max=2", "abc", "abc", "too_long"},
		{"id", "0198F2C4-6A10-7C3E-9B52-4F0E8D1A7B21", "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", ""},
		{"id", "0198f2c46a107c3e9b524f0e8d1a7b21", "0198f2c46a107c3e9b524f0e8d1a7b21", "invalid_id"},
		{"id", "urn:uuid:0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", "urn:uuid:0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", "invalid_id"},
	}
	for _, tt := range tests {
		var f wire.Faults
		got := wire.ParseRules(tt.rules).Text(tt.in, "/x", &f)
		var code string
		if len(f) > 0 {
			code = f[0].Code
		}
		if got != tt.want || code != tt.code {
			t.Errorf("rules %q, text %q: got %q with fault %q, want %q with %q", tt.rules, tt.in, got, code, tt.want, tt.code)
		}
	}
}

// TestVisible: a text of one line loses the characters that show nothing, and keeps those that change a glyph.
func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"Asha": "Asha", "": "", "\u200bAsha\u200b \u2060Rao\ufeff": "Asha Rao", "As\u00adha": "Asha", "As\u200dha": "Asha", "As\u200cha": "Asha", "\u3164Asha\u115f": "Asha",
		"\u2068Asha Rao\u2069": "Asha Rao", "\u202aAsha\u202c": "Asha", "\u200eAsha\u200f": "Asha", "محمد\u200f علي": "محمد علي", "As\ufe0fha": "Asha", "e\u200b\u0301": "é", "12\ufe0f": "12",
		"asha\u200b@okaxis": "asha@okaxis", "Asha \u200d": "Asha ", "\u0915\u200d \u0916": "\u0915 \u0916", "\U000e0041Asha\U000e007f": "Asha", "a\u202eb": "ab",
		// Joiners in words: Persian, Devanagari, Malayalam and Bengali in their older spelling, and after a mark that scripts share.
		"علی\u200cرضا": "علی\u200cرضا", "क्\u200dष": "क्\u200dष", "श्री\u200cमती": "श्री\u200cमती", "र\u200d्य": "र\u200d्य", "രാജന്\u200d": "രാജന്\u200d", "ত্\u200d": "ত্\u200d", "عمدا\u064b\u200cها": "عمدا\u064b\u200cها",
		"क्\u200d\u200d\u200bष": "क्\u200dष", "\u200dआशा\u200d": "आशा", "आशा\u200c राव": "आशा राव",
		// Emoji.
		"👩\u200d👧": "👩\u200d👧", "👩🏽\u200d🚀": "👩🏽\u200d🚀", "❤\ufe0f\u200d🔥": "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3": "1\ufe0f\u20e3", "↔\ufe0f": "↔\ufe0f", "‼\ufe0f": "‼\ufe0f", "👩\u200d": "👩",
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
		"葛\U000e0100城": "葛\U000e0100城", "\u0601": "\u0601", // a variant of a Japanese name; an Arabic sign that is visible
	} {
		if got := wire.Visible(in, false); got != want {
			t.Errorf("%+q is %+q, want %+q", in, got, want)
		}
	}
}

func TestParseRulesPanicsOnUnknownRule(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an unknown rule did not panic")
		}
	}()
	wire.ParseRules("required,longest=3")
}

func TestFaultsKeepOnePerPointer(t *testing.T) {
	var f wire.Faults
	f.Add("/a", "first", "detail")
	f.Add("/a", "second", "detail")
	f.Add("/b", "no_detail", "")
	if len(f) != 1 || f[0].Code != "first" || !f.Has("/a") || f.Has("/b") {
		t.Errorf("got %+v, want the first fault of /a only", f)
	}
	if err := f.Err(); err == nil {
		t.Error("no error for a fault")
	}
	if err := wire.Faults(nil).Err(); err != nil {
		t.Errorf("got %v without faults, want nil", err)
	}
}

func TestPointTo(t *testing.T) {
	if got := wire.PointTo(wire.PointTo("/list", 3), "a/b~c"); got != "/list/3/a~1b~0c" {
		t.Errorf("got %s, want /list/3/a~1b~0c", got)
	}
}

func FuzzText(f *testing.F) {
	tags := []string{"name,min=1,max=10", "lines,max=20", "id", "secret"}
	f.Add(uint8(0), " Zoe\u0308 ")
	f.Add(uint8(0), "\u200b\u0915\u094d\u200d\u034f\u093c\u200d\u202e")
	f.Add(uint8(1), "a\r\n\tb")
	f.Add(uint8(2), "0198F2C4-6A10-7C3E-9B52-4F0E8D1A7B21")
	f.Fuzz(func(t *testing.T, n uint8, s string) {
		tag := tags[int(n)%len(tags)]
		rules := wire.ParseRules(tag)
		var first wire.Faults
		got := rules.Text(s, "", &first)
		if len(first) > 0 {
			return
		}
		if tag != "secret" && got != strings.TrimSpace(got) {
			t.Fatalf("rules %q: %q is not trimmed", tag, got)
		}
		var second wire.Faults
		if again := rules.Text(got, "", &second); again != got || len(second) > 0 {
			t.Fatalf("rules %q: %q became %q with faults %v in a second pass", tag, got, again, second)
		}
	})
}
