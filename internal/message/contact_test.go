package message_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
)

// Each text leads to a person or a page outside of Touchline.
func TestWithoutLinksFindsDisguises(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		gone []string // what must not be readable any more
	}{
		{"Call ⑨⑧①②③④⑤⑥⑦⑧ now", []string{"⑨", "⑧"}},
		{"Call ❾❽❶❷❸❹❺❻❼❽ now", []string{"❾"}},
		{"Call ➒➑➊➋➌➍➎➏➐➑ now", []string{"➒"}},
		{"Call 𝟗𝟖𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖 now", []string{"𝟗"}},
		{"Call ⁹⁸¹²³⁴⁵⁶⁷⁸ or ₉₈₁₂₃₄₅₆₇₈ now", []string{"⁹", "₉"}},
		{"Call ９８１２３４５６７８ now", []string{"９"}},
		{"Call ৯৮১২৩৪৫৬৭৮ or ௯௮௧௨௩௪௫௬௭௮ or ٩٨١٢٣٤٥٦٧٨ now", []string{"৯", "௯", "٩"}},
		{"Call 98123x45678 now", []string{"98123", "45678"}},
		{"Call 98123X45678 now", []string{"98123", "45678"}},
		{"Call 98a12b34c56d78 now", []string{"98a", "78"}},
		{"Call 98123 x 45678 now", []string{"98123", "45678"}},
		{"Call 98123,45678 now", []string{"98123", "45678"}},
		{"Call 98123, 45678 now", []string{"98123", "45678"}},
		{"Call 98:12:34:56:78 now", []string{"98", "78"}},
		{"Call 98~12~34~56~78 or 98|12|34|56|78 or 98·12·34·56·78 now", []string{"98", "78"}},
		{"Call 98, 12, 34, 56, 78 now", []string{"98", "78"}},
		{"Call 9,8,1,2,3,4,5,6,7,8 now", []string{"9,8", "7,8"}},
		{"Call 98*12*34*56*78 or 98_12_34_56_78 now", []string{"98", "78"}},
		{"98123\n45678", []string{"98123", "45678"}},
		{"Ph:98123 45678", []string{"98123", "45678"}},
		{"Call +91‑98123‑45678 now", []string{"98123", "45678"}},
		{"Call nine eight one two three four five six seven eight now", []string{"nine", "eight"}},
		{"Call नौ आठ एक दो तीन चार पांच छह सात आठ now", []string{"नौ", "आठ"}},
		{"Call nau aath ek do teen char paanch chhe saat aath now", []string{"nau", "saat"}},

		{"See t . me / x now", []string{"t .", "/"}},
		{"See t.me / x now", []string{"t.me"}},
		{"See evil·com now", []string{"l·c"}},
		{"See evil•com or evil‧com or evil∙com or evil⋅com or evil・com now", []string{"l•c", "l‧c", "l∙c", "l⋅c", "l・c"}},
		{"See evil .com now", []string{".com"}},
		{"See evil. com now", []string{". com"}},
		{"See evil . com now", []string{". com"}},
		{"See evil .in now", []string{".in"}},
		{"See evil dot com now", []string{"evil", "com"}},
		{"See evil DOT com / join now", []string{"evil", "com", "join"}},
		{"See evil (dot) com now", []string{"evil", "com"}},
		{"See evil[dot]in now", []string{"evil"}},
		{"See evil-dot-com or evil_dot_com now", []string{"evil", "com"}},
		{"See evildotcom now", []string{"evildotcom"}},
		{"See evil डॉट com now", []string{"evil", "com"}},
		{"See t dot me slash x now", []string{"t dot me", "slash"}},
		{"See evil[.]com or evil(.)com now", []string{"[.]", "(.)"}},
		{"See evil,com or evil_com now", []string{"l,c", "l_c"}},
		{"See evil.сom now", []string{"l.с"}}, // Cyrillic с
		{"See ｅｖｉｌ．ｃｏｍ now", []string{"．"}},
		{"See 𝐞𝐯𝐢𝐥.𝐜𝐨𝐦/x now", []string{"𝐜𝐨𝐦"}},
		{"See ｗｗｗ．evil．com now", []string{"evil"}},
		{"See ｈｔｔｐｓ：／／evil.com now", []string{"evil"}},
		{"Write to coach ＠ evil.com or coach@evil.com now", []string{"@", "l.c"}},
		{"Pay to evil@upi now", []string{"@upi"}},
		{"Find @evilcoach now", []string{"@evil"}},
	} {
		got := message.WithoutLinks(tt.text)
		for _, gone := range tt.gone {
			if strings.Contains(got, gone) {
				t.Errorf("%q became %q, which has %q", tt.text, got, gone)
			}
		}
		if strings.Contains(tt.text, " now") && !strings.HasSuffix(got, "now") {
			t.Errorf("%q became %q, which lost its end", tt.text, got)
		}
	}
}

func TestWithoutLinksKeepsInnocentTexts(t *testing.T) {
	t.Parallel()
	innocent := []string{
		"Training at 17:30, ground 3.",
		"Training 17:30-19:30 today",
		"From 5.30 to 7.00 pm",
		"Batches at 16:00, 17:00, 18:00 and 19:00",
		"16:00 17:00 18:00 19:00",
		"We won 3-2!",
		"Results: 3-2, 2-1, 4-3, 1-0",
		"Sets: 6-4 3-6 6-3 7-5",
		"Badminton: 21-15 18-21 21-19",
		"Kabaddi: 45-38, 32-41, 50-49",
		"Fee: Rs. 500",
		"Fee: ₹1,500 for June and ₹12,50,000 in all",
		"Fees 1500, 1200, 1000",
		"Rs 500/- per month",
		"Match on 12.05.2026 at 17:30",
		"Camp 12/05/2026-14/05/2026",
		"Camp from 2026-05-12 to 2026-05-14",
		"Dates: 5, 12, 19, 26 June",
		"Dates: 5 12 19 26 June",
		"House 14, Sector 21, Chandigarh 160022",
		"Plot 21, 560034 Bengaluru",
		"12/3 MG Road, Bengaluru 560001",
		"Ground no 3, 560001",
		"Flat B-1203, Tower 4, 2nd floor",
		"U10, U12, U14, U16",
		"Run 400m, 800m and 1500m",
		"4x100m relay and 4x400m relay",
		"3x10 3x12 3x8 3x15 squats",
		"Warm up 10 min, run 20 min, stretch 15 min",
		"Size 32 or 34, colour blue",
		"50% off, 100% fun",
		"Meet @ 5 at gate 2",
		"Bring water. In case of rain we stay inside.",
		"Come to me. Me and Ravi are at the gate.",
		"* Bring shoes\n* Bring water",
		"• Shoes\n• Water",
		"Put a dot in the circle",
		"Bus no. 45 leaves at 6.15 a.m.",
		"Class 5-A and 6-B, boys/girls",
		"कल शाम 5:30 बजे मैदान 3 पर आइए।",
		"ఆట 17:30 కి, గ్రౌండ్ 3",
		"Today's score: 120/4 in 15.2 overs",
		"Temperature 38.5, drink 2-3 litres",
		"Season 2025-26, 2nd term",
		"Group A: 1. Ravi 2. Asha 3. Meera",
		"5*4 and 10*2 drills",
		"Well done! 👏👏 See you on 1/6 😀",
	}
	for _, text := range innocent {
		if got := message.WithoutLinks(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestRestrictedTextHasNoEmphasis(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"*URGENT* _pay_ ~now~ ```here```": "URGENT pay now here",
		"*_~all~_*":                       "all",
		"5*4*3 and snake_case_name":       "5*4*3 and snake_case_name",
		"* Bring shoes\n* Bring water":    "* Bring shoes\n* Bring water",
	} {
		got := message.TeamText(message.TeamMessage{CoachName: "Meera", Text: text, Restricted: true})
		if got, _, _ = strings.Cut(strings.TrimPrefix(got, "Meera: "), "\nTo stop"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
