package touchline_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// service is a running service for development, with an operators' listener and an empty data folder.
type service struct {
	url, operators string
	environ        []string
	program        string
	ahead          time.Duration // how far its clock is ahead
}

func startService(t *testing.T, settings ...string) *service {
	t.Helper()
	s := &service{program: os.Getenv("SERVE_PROGRAM")}
	if s.program == "" {
		t.Fatal("SERVE_PROGRAM names the program: go build -o touchline ./cmd/touchline")
	}
	s.environ = append(os.Environ(), "TOUCHLINE_ADDR=127.0.0.1:0", "TOUCHLINE_ADMIN_ADDR=127.0.0.1:0", "TOUCHLINE_DATA_DIR="+t.TempDir(), "TOUCHLINE_WEBHOOK_NETWORKS=127.0.0.1")
	s.environ = append(s.environ, settings...)
	cmd := exec.Command(s.program, "serve")
	cmd.Env = s.environ
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	s.url = firstMatch(t, lines, `^Touchline answers at (\S+)`)
	s.operators = firstMatch(t, lines, `operators' API answers at (\S+)`)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s
}

func firstMatch(t *testing.T, lines *bufio.Scanner, pattern string) string {
	t.Helper()
	for lines.Scan() {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(lines.Text()); found != nil {
			return found[1]
		}
	}
	t.Fatalf("the service did not print %s", pattern)
	return ""
}

// code waits for the OTP that arrives at a number.
func (s *service) code(t *testing.T, number string) string {
	t.Helper()
	for range 200 {
		var messages struct {
			Items []struct{ Code *string }
		}
		resp, err := http.Get(s.url + "/dev/messages?number=" + url.QueryEscape(number))
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(resp.Body).Decode(&messages)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages.Items {
			if m.Code != nil && *m.Code != "" {
				return *m.Code
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no code arrived at %s", number)
	return ""
}

func (s *service) advance(t *testing.T, duration string) {
	t.Helper()
	var out struct{ Now time.Time }
	post(t, s.url+"/dev/clock", "", map[string]string{"advance": duration}, &out)
	s.ahead = time.Until(out.Now)
}

func (s *service) token(t *testing.T, scope string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.program, "admin", "token", "create", "--name", scope, "--scopes", scope)
	cmd.Env = s.environ
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func post(t *testing.T, target, token string, in, out any) {
	t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, target, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("POST %s: %d %s %v", target, resp.StatusCode, body, err)
	}
	if err := json.Unmarshal(body, out); err != nil {
		t.Fatal(err)
	}
}

// waitForFile waits until a file is there.
func waitForFile(t *testing.T, name string) {
	t.Helper()
	for range 200 {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s was not written", name)
}
