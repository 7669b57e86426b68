package message_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/touchline/touchline/internal/message"
)

func TestName(t *testing.T) {
	tests := []struct{ in, want string }{
		{"Asha Rao", "Asha Rao"},
		{"  Asha \t Rao\n", "Asha Rao"},
		{"A.P.J. Abdul Kalam", "A.P.J. Abdul Kalam"},
		{"J. RAO", "J. RAO"},
		{"ए.पी. राव", "ए.पी. राव"},
		{"Dr. Asha Rao", "Dr Asha Rao"},
		{"O'Brien-Smith", "O'Brien-Smith"},
		{"अशा राव", "अशा राव"},
		{"Asha\u202eoaR", "AshaoaR"},
		{"Asha\x00Rao", "Asha Rao"},
		{"<script>", "someone"},
		{"\u200b\u200b", "someone"},
		{"-- !", "someone"},
		{"", "someone"},
		{strings.Repeat("x", 60), strings.Repeat("x", 39) + "…"},

		// Links.
		{"Asha http://evil.example/x Rao", "Asha Rao"},
		{"Asha evil.example", "Asha evil example"},
		{"evil。example", "evil example"},
		{"evil\u2024com", "evil com"},
		{"evil\ufe52com evil\u06d4com evil\ua4f8com", "evil com evil com evil com"},
		{"evil . com", "evil com"},
		{"evil .com", "evil com"},
		{"evil. com", "evil com"},
		{"evil \u2024 com", "evil com"},
		{"x. com", "x com"},
		{"X. COM", "X COM"},
		{"t.co", "t co"},
		{"A.P.J.com", "A P J com"},
		{"1.1.1.1", "1 1 1 1"},
		{"...", "someone"},
		{"a@b.example", "someone"},
		{"evil＠example", "someone"},

		// Numbers to call.
		{"call +919812345678 now", "call now"},
		{"Ring 9876 5432 10 now", "Ring now"},
		{"Ring 98-76 54-32 A1 now", "Ring now"},
		{"९८७६ ५४३२", "someone"},
		{"Asha Rao 2014 B2", "Asha Rao 2014 B2"},

		// Money.
		{"₹5000 free", "someone"},
		{"Asha Rao ₹5000 free", "Asha Rao"},
		{"Asha ₹ 5,000/- Rao", "Asha Rao"},
		{"Rs 500", "someone"},
		{"Rs. 5 000 Asha", "Asha"},
		{"Rs.500/- Asha", "Asha"},
		{"Asha 500rs", "Asha"},
		{"Rs @ 500", "someone"},
		{"$100", "someone"},
		{"US$100 Asha", "Asha"},
		{"win 1000 INR", "someone"},
		{"Win 5 lakh rupees Asha", "Asha"},
		{"Asha 50k cash", "Asha"},
		{"Asha ५०० रुपये", "Asha"},
		{"＄100 €5 £5", "someone"},
		{"Ke$ha", "Keha"},
		{"Win Aung", "Win Aung"},
		{"Ezra Pound", "Ezra Pound"},
		{"K 12 Asha K", "K 12 Asha K"},
	}
	for _, tt := range tests {
		if got := message.Name(tt.in, "someone"); got != tt.want {
			t.Errorf("Name(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// A dot of a name belongs to an initial; what follows is an initial or a capital.
var (
	dotInName  = regexp.MustCompile(`[.\x{2024}\x{3002}\x{ff0e}\x{ff61}\x{fe52}]`)
	domainLike = regexp.MustCompile(`(?i)[\pL\pN]\s*\.\s*(com|net|org|in|co|io)\b|\pL\.[\pL\pM]*\pL\pM*\pL|\pL\pM*\pL\pM*\.`)
	moneyLike  = regexp.MustCompile(`(?i)\p{Sc}|(^| )(rs|inr) ?\pN+( |$)|(^| )\pN+ ?(rs|inr)( |$)`)
)

func FuzzName(f *testing.F) {
	for _, s := range []string{
		"Asha Rao", "http://evil.example\u202e\n", "evil\u2024com", "evil . com", "X. COM", "A.P.J. Abdul", "a.\u2024 b", "₹5000 free", "Rs 5 000", "win 1000 INR", "Rs.500/-",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := message.Name(s, "someone")
		if name == "" || len([]rune(name)) > 40 || strings.ContainsAny(name, "/\\@:<>\n\r\t") {
			t.Fatalf("Name(%q) = %q", s, name)
		}
		digits := 0
		for _, r := range name {
			if unicode.IsControl(r) {
				t.Fatalf("Name(%q) = %q contains %U", s, name, r)
			}
			if unicode.IsDigit(r) {
				digits++
			}
		}
		if digits > 6 {
			t.Fatalf("Name(%q) = %q contains a phone number", s, name)
		}
		if dotInName.FindString(strings.ReplaceAll(name, ".", "")) != "" || domainLike.MatchString(name) {
			t.Fatalf("Name(%q) = %q looks like a domain", s, name)
		}
		if moneyLike.MatchString(name) {
			t.Fatalf("Name(%q) = %q contains an amount of money", s, name)
		}
	})
}

// TestFirstName: the name by which a person is called. Brothers have different ones.
func TestFirstName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Asha Rao": "Asha", "Md. Ali Khan": "Ali", "Md. Umar Khan": "Umar", "Md Umar": "Umar", "Mohd. Shami": "Shami", "Dr. Meera Nair": "Meera", "DR MEERA": "MEERA",
		"S. Sreesanth": "Sreesanth", "K L Rahul": "Rahul", "K. L. Rahul": "Rahul", "A.P.J. Abdul Kalam": "Abdul", "M.S.Dhoni": "Dhoni", "M.S. Dhoni": "Dhoni", "Kh. Bala": "Bala",
		"De la Cruz, Maria": "Maria", "Rao, K. Asha": "Asha", "Rao,": "Rao", "Ravi/Asha": "Ravi", "Ravi & Asha": "Ravi",
		"के. एल. राहुल": "राहुल", "डॉ. मीरा": "मीरा", "मो. अली": "अली", "श्री राम": "राम",
		"K L": "K L", "Md.": "Md", "Asha": "Asha", "🏑": "", "": "", "🏑 Asha": "Asha", "*Asha*": "Asha", "http://x.in Asha": "Asha", "Zoë": "Zoë", "Jean-Luc Picard": "Jean-Luc",
	} {
		if got := message.FirstName(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
}
