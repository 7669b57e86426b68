package message_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
)

// TestRegistry: each variable of a registered text has a type, no two stand side by side, and at most 40 % of a text are
// variables. The texts that the registry refuses are known.
func TestRegistry(t *testing.T) {
	t.Parallel()
	var refused []string
	for _, s := range message.SMSTemplates("Touchline", "https://t.example", "FA+9qCX9VSu") {
		dlt := s.DLT()
		if strings.Contains(dlt, "{#var#}") || strings.Count(dlt, "{") != strings.Count(dlt, "{#") {
			t.Errorf("%s has a variable without a type: %s", s.Key(), dlt)
		}
		if strings.Contains(s.Text, "{code}") != strings.Contains(dlt, "{#numeric#}") || strings.Contains(s.Text, "link}") != strings.Contains(dlt, "{#url#}") {
			t.Errorf("%s has a code or a link of another type: %s", s.Key(), dlt)
		}
		if side := regexp.MustCompile(`#}[^\pL]*{#`).FindString(strings.SplitN(dlt, "\n", 2)[0]); side != "" && (s.Language == "en" || s.Language == "hi" || !strings.HasPrefix(s.Name, "training_") && s.Name != "questions_both") {
			t.Errorf("%s has two variables side by side (%s): %s", s.Key(), side, dlt)
		}
		if why := s.Unregistrable(); why != "" {
			refused = append(refused, s.Key())
		} else if s.VariableShare() > 40 {
			t.Errorf("%s can be registered with %d %% variables", s.Key(), s.VariableShare())
		}
	}
	for _, name := range []string{"otp_coach", "otp_party", "request_guardian", "request_student", "request_again_guardian", "request_again_student", "reminder_guardian", "reminder_student", "questions_guardian", "questions_student", "player_removed", "coach_left", "turning_18_soon"} {
		for _, language := range []string{"en", "hi"} {
			if slices.Contains(refused, name+"."+language) {
				t.Errorf("%s.%s cannot be registered", name, language)
			}
		}
	}
	if !slices.Contains(refused, "team.en") || !slices.Contains(refused, "turned_18.en") {
		t.Errorf("texts with a free sentence count as registrable: refused are %q", refused)
	}
	for s, want := range map[message.SMSTemplate]string{
		{Text: "{text}"}: "it is a variable alone", {Text: "For {coach}: {student} is here today and comes again tomorrow at the same hour as always."}: "two variables stand side by side",
		{Text: "Hello {student}, we meet at the ground tomorrow."}: "",
	} {
		if got := s.Unregistrable(); got != want {
			t.Errorf("%q: %q, want %q", s.Text, got, want)
		}
	}
}

// TestRegistryValue: what a tag forbids is replaced before a value leaves.
func TestRegistryValue(t *testing.T) {
	t.Parallel()
	for _, v := range [][3]string{
		{"coach", "Coach Meera Nair", "Coach Meera Nair"},
		{"student", "O'Brien-Rao, K.L.", "OBrien Rao K L"},
		{"student", "D’Souza", "DSouza"},
		{"student", "आशा राव", "आशा राव"},
		{"when_place", "Tue 1 Dec, 17:30, Ground #2", "Tue 1 Dec 17 30 Ground 2"},
		{"batch", "U-12 (Evening)", "U 12 Evening"},
		{"batch", "⚽️ U12", "U12"},
		{"validity", "5 minutes", "5 minutes"},
		{"link", "https://t.example/a/x_y-z", "https://t.example/a/x_y-z"},
		{"page", "t.example/a", "t.example/a"},
		{"code", "123456", "123456"},
		{"students", strings.Repeat("ab ", 20), strings.TrimSpace(strings.Repeat("ab ", 13))},
	} {
		if got := message.RegistryValue(v[0], v[1]); got != v[2] {
			t.Errorf("%s %q: %q, want %q", v[0], v[1], got, v[2])
		}
	}
}
