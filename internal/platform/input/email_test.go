package input_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/input"
)

func TestCheckEmail(t *testing.T) {
	for _, good := range []string{"a@b.co", "asha+hockey@mail.example.in", "ä@ö.de", "o'neil@b.co"} {
		if wrong := input.CheckEmail(good); wrong != "" {
			t.Errorf("%q: %s", good, wrong)
		}
	}
	for _, bad := range []string{
		"", "a", "a@b", "a b@c.de", "a@b..co", "a@b.co, c@d.co", "Asha <a@b.co>", `"a b"@c.de`, "a@b.co\nBcc: c@d.co",
		"a@b.co\u202e", "a\u200b@b.co", "a@b\u00a0.co", "a@[127.0.0.1]", "a@" + strings.Repeat("b", 250) + ".co",
	} {
		if input.CheckEmail(bad) == "" {
			t.Errorf("%q is taken", bad)
		}
	}
}
