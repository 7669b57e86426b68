package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// TestAPIGuide runs the examples of docs/api-guide.md one after the other. An error status of any call
// ends the shell.
func TestAPIGuide(t *testing.T) {
	t.Parallel()
	bash := programtest.Bash.Need(t)
	programtest.Curl.Need(t)
	text, err := os.ReadFile("../../docs/api-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Join(blocks(string(text), "sh"), "")
	if n := strings.Count(examples, "$URL/"); n < 30 {
		t.Fatalf("got %d calls in the examples, want more", n)
	}
	binary := program(t)
	s := serve(t, binary, "--kyc=on")
	output := runScript(t, s, binary, bash, `set -o pipefail; curl() { command curl --fail-with-body "$@"; }`+"\n"+examples)
	for _, want := range []string{`"next":"complete_profile"`, `"guardian_app_enabled":true`, `"reminders_left":1`, `"requested_tier":"pro"`, `"listed":true`, "\n304\n"} {
		if !strings.Contains(output, want) {
			t.Errorf("the examples did not print %s:\n%s", want, output)
		}
	}
}
