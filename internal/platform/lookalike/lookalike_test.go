package lookalike_test

import (
	"testing"

	"github.com/touchline/touchline/internal/platform/lookalike"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Asha Rao":   "asha rao",
		"José Núñez": "jose nunez",
		"ＷｈａｔｓＡｐｐ":   "whatsapp",
		"WhаtsАрр":   "whatsapp",  // Cyrillic а, А, р
		"ΤΟUCHLΙΝΕ":  "touchline", // Greek capitals
		"𝐖𝐡𝐚𝐭𝐬𝐀𝐩𝐩 Ⓦ 🅦🆆 🇼":            "whatsapp w ww w",
		"W\u200bhats\ufe0fApp":       "whatsapp",
		"ᴛᴏᴜᴄʜʟɪɴᴇ":                  "touchline",
		"⑨⑧①❷➂➍⑩⓿ ９ ९ ৯ ٩ 𝟗 ⁹ ₉ ⑼ ⒐": "98123410" + "0 9 9 9 9 9 9 9 9 9",
		"9\ufe0f\u20e38\ufe0f\u20e3": "98",
		"आशा राव":                    "आशा राव",
	} {
		if got := lookalike.Fold(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
