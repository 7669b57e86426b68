package main_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// TestREADME runs the sessions of the README with curl in the shells that readers use, and
// compares the output with the output in the README.
func TestREADME(t *testing.T) {
	t.Parallel()
	binary := program(t)
	for name, find := range map[string]func(testing.TB) string{
		"sh": func(testing.TB) string { return "/bin/sh" }, "bash": programtest.Bash.Need, "zsh": programtest.Zsh.Need,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell := find(t)
			programtest.Curl.Need(t)
			t.Run("a first session", func(t *testing.T) {
				t.Parallel()
				runSession(t, binary, shell, "## A first session with the API")
			})
			t.Run("a second session", func(t *testing.T) {
				t.Parallel()
				runSession(t, binary, shell, "## A second session", "--kyc=on")
			})
		})
	}
}

// runSession runs the session under a heading in a shell, against a service with these flags.
func runSession(t *testing.T, binary, shell, heading string, flags ...string) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), heading)
	section, _, _ = strings.Cut(section, "\n## ")
	script, shown := blocks(section, "sh"), blocks(section, "(?:json|text)")
	if len(script) == 0 || len(shown) == 0 {
		t.Fatalf("the README has no session under %q", heading)
	}

	s := serve(t, binary, flags...)
	output := runScript(t, s, binary, shell, strings.Join(script, "\n"))
	want := strings.Split(strings.TrimSpace(strings.Join(shown, "")), "\n")
	got := strings.Split(strings.TrimSpace(output), "\n")
	if len(got) != len(want) {
		t.Fatalf("the session printed %d lines, the README shows %d:\n%s", len(got), len(want), output)
	}
	for i := range want {
		// … in the README matches any text.
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(want[i]), "…", ".*") + "$"
		if !regexp.MustCompile(pattern).MatchString(got[i]) {
			t.Errorf("line %d of the session: got\n%s\nwant, from the README\n%s", i+1, got[i], want[i])
		}
	}
}

// runScript runs the commands of a document in a shell, in the root of the repository, types the OTPs
// that s prints, and returns the output.
func runScript(t *testing.T, s running, binary, shell, commands string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	commands = strings.NewReplacer("http://127.0.0.1:8080", s.url, "go run ./cmd/touchline", binary).Replace(commands)
	script := exec.CommandContext(ctx, shell, "-eu", "-c", commands)
	script.Dir = "../.."
	script.Env = append(os.Environ(), "TOUCHLINE_DATA_DIR="+filepath.Join(s.folder, "touchline-data"))
	script.Stderr = os.Stderr
	stdin, err := script.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(stdin, s.otps) }()
	output, err := script.Output()
	if err != nil {
		t.Fatalf("the examples failed in %s: %v\n%s", shell, err, output)
	}
	return string(output)
}

// program returns the path of this test binary, which runs as touchline if TestMain has set
// its variable.
// Linking the command takes more processor time than the sessions.
func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// blocks returns the code blocks whose language matches a regular expression.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// running is a running service.
type running struct {
	folder, url string
	// otps has one line for each OTP that the service prints.
	otps io.Reader
}

// serve starts the service in an empty folder on a free port.
func serve(t *testing.T, binary string, flags ...string) running {
	t.Helper()
	folder := t.TempDir()
	service := exec.Command(binary, append([]string{"serve", "--addr", "127.0.0.1:0", "--shutdown-drain", "0s"}, flags...)...)
	service.Dir = folder
	service.Stderr = os.Stderr
	printed, err := service.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = service.Process.Signal(syscall.SIGTERM)
		if err := service.Wait(); err != nil {
			t.Errorf("stop the service: %v", err)
		}
	})
	lines := bufio.NewScanner(printed)
	if !lines.Scan() {
		t.Fatal("the service printed nothing")
	}
	url := regexp.MustCompile(`http://[0-9.:]+`).FindString(lines.Text())
	read, write := io.Pipe()
	go func() {
		defer write.Close()
		code := regexp.MustCompile(`(\d{6}) is your Touchline code`)
		for lines.Scan() {
			if m := code.FindStringSubmatch(lines.Text()); m != nil {
				if _, err := io.WriteString(write, m[1]+"\n"); err != nil {
					return
				}
			}
		}
	}()
	return running{folder: folder, url: url, otps: read}
}
