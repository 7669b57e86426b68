package web

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// usedText finds the keys that templates and handlers name as constants.
var usedText = regexp.MustCompile(`\.(?:T|H|MustT|Field "\w+"|view\(r,|signedInView\(r,) ?\(?"([a-z_.]+)"`)

// texts returns every text of a language by key, its plural forms joined.
func texts(t *testing.T, language string) map[string]string {
	t.Helper()
	files, err := featureFiles("locales/*."+language+".json", "texts."+language+".json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no texts in %s: %v", language, err)
	}
	all := map[string]string{}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var entries map[string]any
		if err := json.Unmarshal(content, &entries); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for key, value := range entries {
			if _, twice := all[key]; twice {
				t.Errorf("%s: %s is there twice", name, key)
			}
			switch v := value.(type) {
			case string:
				all[key] = v
			case map[string]any:
				one, _ := v["one"].(string)
				other, _ := v["other"].(string)
				if one == "" || other == "" || len(v) != 2 {
					t.Errorf("%s: %s needs the plural forms one and other", name, key)
				}
				all[key] = one + "\n" + other
			}
		}
	}
	return all
}

func TestUsedTextsExist(t *testing.T) {
	english := texts(t, "en")
	var sources []string
	templates, err := featureFiles("templates/*.html", "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range templates {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, string(content))
	}
	used := 0
	for i, source := range sources {
		for _, match := range usedText.FindAllStringSubmatch(source, -1) {
			used++
			if _, ok := english[match[1]]; !ok && !strings.HasSuffix(match[1], ".") {
				t.Errorf("%s: no text %q", templates[i], match[1])
			}
		}
	}
	if used == 0 {
		t.Error("found no text in any template")
	}
}
