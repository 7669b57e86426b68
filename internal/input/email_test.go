package input_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/input"
)

// TestReadEmail: addresses are taken as RFC 5321 bounds them, without what copying adds.
func TestReadEmail(t *testing.T) {
	for _, good := range []string{
		"a@b.co", "asha+hockey@mail.example.in", "ä@ö.de", "o'neil@b.co", "meera@bücher.example", "Meera@example.org", "मीरा@मेल.भारत", "meera@मेल.भारत", "meera@127.0.0.1.example", "meera@4sq.in", "meera@3.mail-2.example",
		strings.Repeat("a", 64) + "@b.co", "a@" + strings.Repeat("b", 63) + ".co", "a@" + strings.Repeat("bbb.", 62) + "co",
	} {
		if address, wrong := input.ReadEmail(good); wrong != "" || address != good {
			t.Errorf("%q: %q, %s", good, address, wrong)
		}
	}
	for given, want := range map[string]string{
		"meera@example.org\u200b": "meera@example.org", "\ufeffmeera@example.org": "meera@example.org", "\u202ameera@example.org\u202c": "meera@example.org",
		"mee\u200bra@exam\u2060ple.org": "meera@example.org", " meera@example.org\u00a0": "meera@example.org", "meera@example.org\u200d": "meera@example.org", "mee\u200dra@exam\u3164ple.org\ufe0f": "meera@example.org",
		`"meera rao"@example.org`: `"meera rao"@example.org`, `"meera"@example.org`: "meera@example.org", `"a@b"@example.org`: `"a@b"@example.org`,
		// One spelling of each domain: the letters of A-labels, lower case, the full stops and forms of other scripts.
		"meera@xn--bcher-kva.example": "meera@bücher.example", "meera@XN--BCHER-KVA.Example": "meera@bücher.example", "meera@BU\u0308CHER.example": "meera@bücher.example",
		"Meera@Example.ORG": "Meera@example.org", "meera@example。org": "meera@example.org", "meera@ｅxample．org": "meera@example.org", "meera@xn--r2bi6d.xn--h2brj9c": "meera@मेल.भारत",
		"ｍeera＠example.org": "meera@example.org", "a\u0308@b.co": "ä@b.co", `"ｍeera rao"@example.org`: `"meera rao"@example.org`,
		"meera..rao@docomo.ne.jp": `"meera..rao"@docomo.ne.jp`, "meera.@docomo.ne.jp": `"meera."@docomo.ne.jp`, `"meera..rao"@docomo.ne.jp`: `"meera..rao"@docomo.ne.jp`,
	} {
		if address, wrong := input.ReadEmail(given); wrong != "" || address != want {
			t.Errorf("%q: %q, %s; want %q", given, address, wrong, want)
		}
		if again, wrong := input.ReadEmail(want); wrong != "" || again != want {
			t.Errorf("%q, read again: %q, %s", want, again, wrong)
		}
	}
	for _, bad := range []string{
		"", "a", "a@b", "a b@c.de", "a@b..co", "a@b.co, c@d.co", "Asha <a@b.co>", `"Asha" <a@b.co>`, `"a b@c.de`, `"a" b@c.de`, "\"a\nb\"@c.de", `"ä ö"@c.de`, "a@b.co\nBcc: c@d.co", "a@b.co (Asha)",
		"a@b\u00a0.co", "a@[127.0.0.1]", "a@" + strings.Repeat("b", 250) + ".co",
		strings.Repeat("a", 65) + "@b.co", "a@" + strings.Repeat("b", 64) + ".co", "meera@-example.org", "meera@example-.org", "a@b.co.", "a@.b.co", "a@b_c.co", strings.Repeat("ä", 33) + "@b.co",
		"a@" + strings.Repeat("bbb.", 63) + "co", "a@xn--b.co", "meera@127.0.0.1", "meera@１２７.0.0.1", "meera@example.123", "a@b\uff0cco", "a@b.co\uff0cc@d.co", "a@b.co。",
	} {
		if address, wrong := input.ReadEmail(bad); wrong == "" {
			t.Errorf("%q is taken as %q", bad, address)
		}
	}
}
