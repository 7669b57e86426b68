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
)

// TestREADME is the new user: it runs the service without any configuration and
// types what the README's first session prints, in a real shell with curl.
func TestREADME(t *testing.T) {
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the session in the README needs %s: install it", program)
		}
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, session, _ := strings.Cut(string(text), "## A first session")
	script, shown := blocks(session, "sh"), blocks(session, "json")
	if len(script) == 0 || len(shown) == 0 {
		t.Fatal("the README shows no session")
	}

	url, codes := serve(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-eu", "-c", strings.ReplaceAll(strings.Join(script, "\n"), "http://127.0.0.1:8080", url))
	shell.Stderr = os.Stderr
	typed, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(typed, codes) }()
	printed, err := shell.Output()
	if err != nil {
		t.Fatalf("the session failed: %v\n%s", err, printed)
	}
	want := strings.Split(strings.TrimSpace(strings.Join(shown, "")), "\n")
	got := strings.Split(strings.TrimSpace(string(printed)), "\n")
	if len(got) != len(want) {
		t.Fatalf("the session printed %d lines, the README shows %d:\n%s", len(got), len(want), printed)
	}
	for i := range want {
		// … stands for whatever differs from run to run, or goes on.
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(want[i]), "…", ".*") + "$"
		if !regexp.MustCompile(pattern).MatchString(got[i]) {
			t.Errorf("line %d of the session:\n%s\nthe README shows:\n%s", i+1, got[i], want[i])
		}
	}
}

// blocks returns the code blocks of a language.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// serve builds and starts the service in an empty folder, on a free port. It
// returns its address, and the codes that it prints, a line each.
func serve(t *testing.T) (url string, codes io.Reader) {
	t.Helper()
	folder := t.TempDir()
	binary := filepath.Join(folder, "touchline")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	service := exec.Command(binary, "serve", "--addr", "127.0.0.1:0")
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
			t.Errorf("the service did not stop cleanly: %v", err)
		}
	})
	lines := bufio.NewScanner(printed)
	if !lines.Scan() {
		t.Fatal("the service printed nothing")
	}
	url = regexp.MustCompile(`http://[0-9.:]+`).FindString(lines.Text())
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
	return url, read
}
