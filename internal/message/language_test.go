package message_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/message"
)

// TestVariablesOfTexts: each text has the same variables in every language. Where a name stands in the sentence differs.
func TestVariablesOfTexts(t *testing.T) {
	variable, place := regexp.MustCompile(`\{(\w+)\}`), regexp.MustCompile(`_(inside|start|name)$`)
	all := map[string]map[string][]string{}
	for _, language := range []string{"en", "hi"} {
		content, err := message.Texts.ReadFile("texts." + language + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]string
		if err := json.Unmarshal(content, &texts); err != nil {
			t.Fatal(err)
		}
		all[language] = map[string][]string{}
		for key, text := range texts {
			names := []string{}
			for _, match := range variable.FindAllStringSubmatch(text, -1) {
				names = append(names, place.ReplaceAllString(match[1], ""))
			}
			slices.Sort(names)
			all[language][key] = slices.Compact(names)
		}
	}
	for _, language := range []string{"en", "hi"} {
		for key, names := range all["en"] {
			if got, ok := all[language][key]; !ok || !slices.Equal(got, names) {
				t.Errorf("%s: %s has the variables %v, want %v", language, key, got, names)
			}
		}
	}
}
