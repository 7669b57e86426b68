package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is a terminal that a test reads.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// find waits for a text that matches pattern, and returns its first group.
func (s *screen) find(t *testing.T, pattern string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		m := regexp.MustCompile(pattern).FindStringSubmatch(s.text.String())
		s.mu.Unlock()
		if m != nil {
			return m[1]
		}
	}
	s.mu.Lock()
	text := s.text.String()
	s.mu.Unlock()
	t.Fatalf("%s was not printed in\n%s", pattern, text)
	return ""
}

// TestDemo: the demo prints an address and a number; the code to sign in appears on the
// terminal; the coach finds players in every state; nothing is left when it ends.
func TestDemo(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TOUCHLINE_DATABASE_URL", "postgres://real.example/touchline") // must not be used
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var stdout, stderr screen
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"demo", "--addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0"}, os.Environ(), &stdout, &stderr)
	}()
	url := stdout.find(t, `pages +(http://\S+)`)
	number := stdout.find(t, `coach +(\+91 [0-9 ]+[0-9])  Meera Nair`)
	call := func(method, path, token string, body, answer any) {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		got, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		raw, err := io.ReadAll(got.Body)
		if err == nil {
			err = json.Unmarshal(raw, answer)
		}
		if err != nil || got.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s, %v", method, path, got.StatusCode, raw, err)
		}
	}
	var ignored map[string]any
	call("POST", "/auth/request-otp", "", map[string]string{"mobile_number": number}, &ignored)
	otp := stdout.find(t, `to `+regexp.QuoteMeta(number)+` \(otp\)[^0-9]+(\d{6})`)
	var login struct {
		Token string `json:"access_token"`
		Next  string
	}
	call("POST", "/auth/login", "", map[string]string{"mobile_number": number, "otp": otp}, &login)
	if login.Next != "dashboard" {
		t.Errorf("next is %s, want the dashboard", login.Next)
	}

	var players struct {
		Items []struct {
			Adult         bool
			SharedContact bool `json:"shared_contact"`
			Guardian      *struct{}
			GuardianState string    `json:"guardian_state"`
			StudentState  string    `json:"student_state"`
			CreatedAt     time.Time `json:"created_at"`
		}
	}
	call("GET", "/api/players", login.Token, nil, &players)
	var states []string
	for _, p := range players.Items {
		states = append(states, p.GuardianState+" "+p.StudentState)
		if p.Adult && p.Guardian == nil {
			states = append(states, "adult alone")
		}
		if p.SharedContact {
			states = append(states, "shared number")
		}
		if age := time.Since(p.CreatedAt); age < time.Hour || age > 30*24*time.Hour {
			t.Errorf("a player was added %s ago", age)
		}
	}
	for _, want := range []string{"approved approved", "approved pending", "rejected pending", "revoked approved", "approved rejected", "pending pending", "adult alone", "shared number"} {
		if !slices.Contains(states, want) {
			t.Errorf("no player is %q; there are %q", want, states)
		}
	}

	var pending struct {
		Items []struct {
			Days    int    `json:"days_pending"`
			Blocked string `json:"blocked_by"`
		}
	}
	call("GET", "/api/coach/pending-approvals?limit=200", login.Token, nil, &pending)
	var blocked []string
	fiveDays := false
	for _, p := range pending.Items {
		blocked = append(blocked, p.Blocked)
		fiveDays = fiveDays || p.Days == 5
	}
	for _, want := range []string{"", "disputed", "delivery_failed", "message_limit", "no_contact_number"} {
		if !slices.Contains(blocked, want) {
			t.Errorf("no approval is blocked by %q; there are %q", want, blocked)
		}
	}
	if !fiveDays {
		t.Error("no approval is pending for 5 days")
	}
	var dashboard struct {
		Unread     int `json:"unread_notifications"`
		Attendance []struct {
			Name  string
			Taken bool
		} `json:"attendance_today"`
		Replies int        `json:"unread_replies"`
		Recent  []struct{} `json:"recent_messages"`
	}
	call("GET", "/api/coach/dashboard", login.Token, nil, &dashboard)
	if dashboard.Unread == 0 {
		t.Error("the coach has no notifications")
	}
	if a := dashboard.Attendance; len(a) != 3 || !a[0].Taken || a[1].Taken || a[2].Taken {
		t.Errorf("attendance today: %+v, want one batch with and two without", a)
	}
	if dashboard.Replies != 1 || len(dashboard.Recent) != 2 {
		t.Errorf("%d unread replies and %d messages, want 1 and 2", dashboard.Replies, len(dashboard.Recent))
	}
	var fees struct {
		Items []struct{ State string }
	}
	call("GET", "/api/fees", login.Token, nil, &fees)
	for _, state := range []string{"due", "overdue", "paid", "waived", "void"} {
		if !slices.ContainsFunc(fees.Items, func(f struct{ State string }) bool { return f.State == state }) {
			t.Errorf("no fee is %s", state)
		}
	}

	stop()
	if got := <-code; got != 0 || stderr.text.Len() > 0 {
		t.Errorf("exit status %d, errors:\n%s", got, stderr.text.String())
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestDemoRefusesUnknownSettings: the demo ignores settings, but a name that no setting has is an error, as for serve.
func TestDemoRefusesUnknownSettings(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var stderr screen
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	code := run(ctx, []string{"demo", "--addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0"}, []string{"TOUCHLINE_PUBLIC_ULR=https://t.example", "TOUCHLINE_PUBLIC_URL=::"}, io.Discard, &stderr)
	if got := stderr.text.String(); code != 2 || !strings.Contains(got, "TOUCHLINE_PUBLIC_ULR") || !strings.Contains(got, "TOUCHLINE_PUBLIC_URL?") || strings.Contains(got, "::") {
		t.Errorf("exit status %d, printed %s", code, got)
	}
}

// TestDemoStaysLocal: the demo refuses addresses other than loopback, and a disabled
// operators' listener.
func TestDemoStaysLocal(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, args := range [][]string{
		{"--addr=0.0.0.0:0", "--admin-addr=127.0.0.1:0"},
		{"--addr=127.0.0.1:0", "--admin-addr=0.0.0.0:0"},
		{"--addr=127.0.0.1:0", "--admin-addr=off"},
		{"--addr=127.0.0.1:0", "--admin-addr="},
	} {
		var stderr screen
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		code := run(ctx, append([]string{"demo"}, args...), nil, io.Discard, &stderr)
		cancel()
		if code != 2 || !strings.Contains(stderr.text.String(), "not a loopback address") {
			t.Errorf("%v: exit status %d, printed %s", args, code, stderr.text.String())
		}
	}
}
