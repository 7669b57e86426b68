package touchline

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestKeyedPaths compares the list with the OpenAPI document, which is written with two spaces for each level.
func TestKeyedPaths(t *testing.T) {
	text, err := os.ReadFile("../../internal/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path, method := regexp.MustCompile(`^  (/\S*):$`), regexp.MustCompile(`^    ([a-z]+):$`)
	var want []string
	var current, verb string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := path.FindStringSubmatch(line); m != nil {
			current = m[1]
		}
		if m := method.FindStringSubmatch(line); m != nil {
			verb = m[1]
		}
		if verb == "post" && strings.Contains(line, "#/components/parameters/IdempotencyKey") {
			want = append(want, current)
		}
	}
	if !slices.Equal(keyedPaths, want) {
		t.Errorf("the document has %q", want)
	}
}
