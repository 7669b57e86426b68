// Package touchlinetest runs a Touchline service inside a test. The service keeps its data in memory, sends no
// messages, and ends with the test:
//
//	s := touchlinetest.Start(t)
//	number := s.Number()
//	c := touchline.New(touchline.Options{BaseURL: s.URL})
//	err := c.Session.RequestOTP(ctx, number, "coach", "")
//	_, err = c.Session.SignIn(ctx, number, "coach", s.Code(number))
//
// The program is the one that TOUCHLINE_PROGRAM names, or "touchline" in PATH.
package touchlinetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Service is a running service. It is safe for concurrent use.
type Service struct {
	// URL is the address of the API and the pages, OperatorsURL that of the operators' listener.
	URL, OperatorsURL string

	tb      testing.TB
	program string
	environ []string
	numbers atomic.Int64

	mu   sync.Mutex
	used map[string]bool // the messages whose code Code has returned
}

const (
	// codeWait limits the wait for a code.
	codeWait = 30 * time.Second
	// stopWait limits the wait for the end of the service.
	stopWait = 10 * time.Second
)

// Start starts a service and stops it at the end of the test. settings are variables such as "TOUCHLINE_KYC=on". It takes
// no TOUCHLINE_ variable of the test's environment.
func Start(tb testing.TB, settings ...string) *Service {
	tb.Helper()
	s := &Service{tb: tb, program: os.Getenv("TOUCHLINE_PROGRAM"), used: map[string]bool{}}
	if s.program == "" {
		path, err := exec.LookPath("touchline")
		if err != nil {
			tb.Fatal("touchlinetest: TOUCHLINE_PROGRAM names no program, and PATH has no touchline")
		}
		s.program = path
	}
	s.environ = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TOUCHLINE_") })
	s.environ = append(s.environ, "TOUCHLINE_ADDR=127.0.0.1:0", "TOUCHLINE_ADMIN_ADDR=127.0.0.1:0", "TOUCHLINE_SHUTDOWN_DRAIN=0s", "TOUCHLINE_DATA_DIR=:memory:")
	s.environ = append(s.environ, settings...)
	cmd := exec.Command(s.program, "serve")
	cmd.Env = s.environ
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatalf("touchlinetest: %v", err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatalf("touchlinetest: start the service: %v", err)
	}
	drained := make(chan struct{})
	tb.Cleanup(func() {
		if cmd.Process.Signal(os.Interrupt) != nil {
			_ = cmd.Process.Kill()
		}
		kill := time.AfterFunc(stopWait, func() { _ = cmd.Process.Kill() })
		<-drained
		_ = cmd.Wait()
		kill.Stop()
		if tb.Failed() {
			tb.Logf("the log of the service:\n%s", &log)
		}
	})
	lines := bufio.NewScanner(out)
	defer func() {
		go func() {
			_, _ = io.Copy(io.Discard, out)
			close(drained)
		}()
	}()
	for lines.Scan() {
		line := lines.Text()
		if found := printed.FindStringSubmatch(line); found != nil {
			s.URL = found[1]
		}
		if found := printedFolder.FindStringSubmatch(line); found != nil {
			s.environ = append(s.environ, "TOUCHLINE_DATA_DIR="+found[1])
		}
		if found := printedOperators.FindStringSubmatch(line); found != nil {
			s.OperatorsURL = found[1]
			return s
		}
	}
	tb.Fatal("touchlinetest: the service did not start")
	return nil
}

// What the service prints at its start.
var (
	printedFolder    = regexp.MustCompile(`^The data is in (.+) until the service stops$`)
	printed          = regexp.MustCompile(`^Touchline answers at (\S+)`)
	printedOperators = regexp.MustCompile(`^The operators' API answers at (\S+)`)
)

// Number returns a mobile number that no other call returned.
func (s *Service) Number() string { return fmt.Sprintf("+9198%08d", 10_000_000+s.numbers.Add(1)) }

// Code waits for the next OTP that arrives at a number. Call it after the request of the OTP.
func (s *Service) Code(number string) string {
	s.tb.Helper()
	for end := time.Now().Add(codeWait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var messages struct {
			Items []struct {
				ID   string  `json:"message_id"`
				Code *string `json:"code"`
			} `json:"items"`
		}
		s.call(http.MethodGet, "/dev/messages?number="+url.QueryEscape(number), nil, &messages)
		for _, m := range messages.Items {
			if m.Code != nil && s.use(m.ID) {
				return *m.Code
			}
		}
	}
	s.tb.Fatalf("touchlinetest: no code arrived at %s", number)
	return ""
}

// use reports whether the code of a message is new.
func (s *Service) use(messageID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := s.used[messageID]
	s.used[messageID] = true
	return !used
}

// Advance moves the clock of the service ahead and returns its time.
func (s *Service) Advance(d time.Duration) time.Time {
	s.tb.Helper()
	var clock struct {
		Now time.Time `json:"now"`
	}
	s.call(http.MethodPost, "/dev/clock", map[string]string{"advance": d.String()}, &clock)
	return clock.Now
}

// Force brings the consent of a party (guardian, student) of a player to a state (pending, approved, rejected, revoked) through
// the decisions that lead there.
func (s *Service) Force(playerID, party, state string) {
	s.tb.Helper()
	s.call(http.MethodPost, "/dev/consents", map[string]string{"player_id": playerID, "party": party, "state": state}, nil)
}

// Token returns a token for the operators' listener with scopes such as "availability".
func (s *Service) Token(scopes ...string) string {
	s.tb.Helper()
	out, err := s.Command("admin", "token", "create", "--name", "test", "--scopes", strings.Join(scopes, ",")).Output()
	if err != nil {
		s.tb.Fatalf("touchlinetest: create a token: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// Command returns a command of the program with the settings of the service, such as Command("admin", "kyc", "approve", coachID).
func (s *Service) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.program, args...)
	cmd.Env = slices.Clone(s.environ)
	return cmd
}

// call sends a request to the service and reads the response into out, unless it is nil.
func (s *Service) call(method, path string, in, out any) {
	s.tb.Helper()
	var body io.Reader = http.NoBody
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			s.tb.Fatalf("touchlinetest: %v", err)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(s.tb.Context(), method, s.URL+path, body)
	if err != nil {
		s.tb.Fatalf("touchlinetest: %v", err)
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.tb.Fatalf("touchlinetest: %v", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == http.StatusOK && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		s.tb.Fatalf("touchlinetest: %s %s: %d %s %v", method, path, resp.StatusCode, text, err)
	}
}
