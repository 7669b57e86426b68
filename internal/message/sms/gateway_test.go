package sms_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
)

const validMessage = `{"id":"1","to":"+919876543210","text":"hello","kind":"message"}`

func post(t *testing.T, g *smstest.Gateway, contentType, body string) int {
	t.Helper()
	res, err := http.Post(g.URL(), contentType, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

func start(t *testing.T) *smstest.Gateway {
	t.Helper()
	g, err := smstest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func TestGatewayRejectsInvalidRequests(t *testing.T) {
	g := start(t)
	for _, body := range []string{
		``, `[]`, `{}`, `{"id":"1"}`,
		strings.Replace(validMessage, "+91", "0", 1),
		strings.Replace(validMessage, "hello", "", 1),
		strings.Replace(validMessage, "message", "sms", 1),
		strings.Replace(validMessage, `{`, `{"more":1,`, 1),
	} {
		if status := post(t, g, "application/json", body); status != 400 {
			t.Errorf("POST %s = %d, want 400", body, status)
		}
	}
	if status := post(t, g, "text/plain", validMessage); status != 400 {
		t.Errorf("POST text/plain = %d, want 400", status)
	}
	if faults := g.Faults(); len(faults) != 9 || len(g.Accepted()) != 0 || g.Attempts() != 9 {
		t.Errorf("%d attempts, faults %q; want 9 of each", g.Attempts(), faults)
	}
	if status := post(t, g, "application/json", validMessage); status != 202 || len(g.Accepted()) != 1 {
		t.Errorf("POST of a valid message = %d, want 202", status)
	}
}

func TestAwait(t *testing.T) {
	g := start(t)
	go func() {
		for _, body := range []string{validMessage, strings.Replace(validMessage, "hello", "second", 1)} {
			res, err := http.Post(g.URL(), "application/json", strings.NewReader(body))
			if err == nil {
				_ = res.Body.Close()
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	m, err := g.Await(ctx, func(m smstest.Received) bool { return m.Text == "second" })
	if err != nil || m.Text != "second" {
		t.Errorf("Await = %+v, %v; want the second message", m, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := g.Await(short, func(smstest.Received) bool { return false }); err == nil {
		t.Error("Await returned no error, want the context's error")
	}
}
