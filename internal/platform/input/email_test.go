package input_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/input"
)

func TestCheckEmail(t *testing.T) {
	for _, good := range []string{
		"a@b.co", "asha+hockey@mail.example.in", "ä@ö.de", "o'neil@b.co", "meera@bücher.example", "meera@xn--bcher-kva.example", "meera@मेल.भारत", "meera@3.mail-2.example",
		strings.Repeat("a", 64) + "@b.co", "a@" + strings.Repeat("b", 63) + ".co", "a@" + strings.Repeat("bbb.", 62) + "co",
	} {
		if wrong := input.CheckEmail(good); wrong != "" {
			t.Errorf("%q: %s", good, wrong)
		}
	}
	for _, bad := range []string{
		"", "a", "a@b", "a b@c.de", "a@b..co", "a@b.co, c@d.co", "Asha <a@b.co>", `"a b"@c.de`, "a@b.co\nBcc: c@d.co",
		"a@b.co\u202e", "a\u200b@b.co", "a@b\u00a0.co", "a@[127.0.0.1]", "a@" + strings.Repeat("b", 250) + ".co",
		strings.Repeat("a", 65) + "@b.co", "a@" + strings.Repeat("b", 64) + ".co", "meera@-example.org", "meera@example-.org", "a@b.co.", "a@.b.co", "a@b_c.co", strings.Repeat("ä", 33) + "@b.co",
		"a@" + strings.Repeat("bbb.", 63) + "co", "a@xn--b.co",
	} {
		if input.CheckEmail(bad) == "" {
			t.Errorf("%q is taken", bad)
		}
	}
}
