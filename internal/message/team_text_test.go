package message_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
)

func TestTeamText(t *testing.T) {
	const stop = "https://t.example/me"
	tests := []struct {
		name string
		m    message.TeamMessage
		want string
	}{
		{"approved", message.TeamMessage{CoachName: "Meera Nair", Text: "Call +91 98123 45678 or see https://club.example/map"}, "Meera Nair: Call +91 98123 45678 or see https://club.example/map"},
		{"copy", message.TeamMessage{CoachName: "Meera", Text: "Bring shoes.", StudentName: "Asha Rao"}, "Meera to Asha Rao: Bring shoes."},
		{"without a name", message.TeamMessage{Text: "Hello"}, "Your coach: Hello"},
		{"restricted", message.TeamMessage{CoachName: "Meera", Text: "Call +91 98123 45678 or\nsee https://club.example/map today", Restricted: true}, "Meera: Call or\nsee today\nTo stop: " + stop},
		{"Hindi", message.TeamMessage{CoachName: "Meera", StudentName: "Asha", Text: "कल छुट्टी है।", Restricted: true, Language: "hi"}, "Meera की ओर से Asha को: कल छुट्टी है।\nबंद करने के लिए: " + stop},
		{"Hindi without names", message.TeamMessage{Text: "Hello", Language: "hi"}, "आपके कोच: Hello"},
		{"nothing left", message.TeamMessage{CoachName: "Meera", Text: "https://club.example", Restricted: true}, ""},
		{"invisible", message.TeamMessage{CoachName: "Meera", Text: " \u200b\u2060 "}, ""},
		{"emoji", message.TeamMessage{CoachName: "Meera", Text: "👍"}, "Meera: 👍"},
		{"direction marks", message.TeamMessage{CoachName: "Meera", Text: "a\u202eb\a"}, "Meera: ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.m.StopURL = stop
			if got := message.TeamText(tt.m); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestWithoutLinks(t *testing.T) {
	for text, want := range map[string]string{
		"Match on 12.05.2026 at 17:30, ground 3": "Match on 12.05.2026 at 17:30, ground 3",
		"From 2026-05-12 17.30 to 19.00":         "From 2026-05-12 17.30 to 19.00",
		"Fee: ₹1,500 for June. Bring 2 shirts.":  "Fee: ₹1,500 for June. Bring 2 shirts.",
		"Come at 5.Bring water":                  "Come at 5 Bring water",
		"98-12-3456-78 now":                      "now", // no day
		"98.12.34.56.78 now":                     "now",
		"5/25/2026, 1.6.26 and 2026-12-31":       "5/25/2026, 1.6.26 and 2026-12-31",
		"2026-99-99 1":                           "",
		"98123-45678":                            "",
		"(080) 2345 6789 now":                    "now",
		"९८१२३४५६७८ पर":                          "पर",
		"club.example":                           "club example",
		"club․example":                           "club example",
		"देखें सेवा.भारत":                        "देखें सेवा भारत", // the vowel sign before the dot is a mark
		"i❤.example/a ok":                        "ok",
		"club\u200d.example/a ok":                "ok",
		"5.9.1.2/pay ok":                         "ok",
		"Group 1.2.3 from 5.30 …at 5":            "Group 1.2.3 from 5.30 …at 5",
		"Wait...then come":                       "Wait...then come",
		strings.Join(strings.Split("98123", ""), "\ufe0f\u20e3") + "45678\ufe0f\u20e3 now": "now", // digits as emoji
		"98123\u200d45678 now":                            "now",
		"club.example/join?x=1 ok":                        "ok",
		"www.club.example ok":                             "ok",
		"HTTPS://X.example ok":                            "ok",
		"coach@club.example ok":                           "ok",
		"and/or 5/6":                                      "and/or 5/6",
		"A.P.J. Abdul Kalam":                              "A P J Abdul Kalam",
		"line one\n\nhttp://x.example\nline two":          "line one\n\n\nline two",
		"9 8 1 2 3 4 5 6 7 8":                             "",
		"Groups of 10 20 30":                              "Groups of 10 20 30",
		strings.Repeat("Training as usual. ", 3) + "Bye!": strings.Repeat("Training as usual. ", 3) + "Bye!",
	} {
		if got := message.WithoutLinks(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// addressLike matches an @ beside a letter.
var addressLike = regexp.MustCompile(`[\pL\pN]@|@\pL`)

func FuzzWithoutLinks(f *testing.F) {
	f.Add("call +91 98123 45678 http://x.example")
	f.Fuzz(func(t *testing.T, text string) {
		if got := message.WithoutLinks(text); strings.Contains(got, "://") || addressLike.MatchString(got) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
