package touchline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/touchline/touchline/clients/go/touchlinetest"
)

// service is a running service for development, with an operators' listener.
type service struct {
	*touchlinetest.Service
	url, operators string
	ahead          time.Duration // how far its clock is ahead
}

func startService(t *testing.T, settings ...string) *service {
	t.Helper()
	s := touchlinetest.Start(t, append(settings, "TOUCHLINE_WEBHOOK_NETWORKS=127.0.0.1")...)
	return &service{Service: s, url: s.URL, operators: s.OperatorsURL}
}

func (s *service) advance(t *testing.T, duration string) {
	t.Helper()
	d, err := time.ParseDuration(duration)
	if err != nil {
		t.Fatal(err)
	}
	s.ahead = time.Until(s.Advance(d))
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
