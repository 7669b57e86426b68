package sms_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/phone"
)

// provider is a Sender under test. sent returns the texts that it sent.
type provider struct {
	sender sms.Provider
	sent   func() string
}

// TestProviders runs the same cases against every provider.
func TestProviders(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) provider{
		"log":    openLog,
		"http":   openHTTP,
		"twilio": openTwilio,
		"msg91":  openMSG91,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("sends", func(t *testing.T) { testSends(t, open(t)) })
			t.Run("concurrent", func(t *testing.T) { testConcurrent(t, open(t)) })
			t.Run("cancelled", func(t *testing.T) { testCancelled(t, open(t)) })
		})
	}
}

func openLog(t *testing.T) provider {
	out := &lockedBuffer{}
	sender, err := sms.New(sms.Config{Accounts: []sms.Account{{Kind: "log"}}, Terminal: out})
	if err != nil {
		t.Fatal(err)
	}
	return provider{sender, func() string { return strings.ReplaceAll(out.String(), "│   ", "") }}
}

func openHTTP(t *testing.T) provider {
	gateway := smstest.New(t)
	sender, err := sms.New(sms.Config{Accounts: []sms.Account{account(gateway)}})
	if err != nil {
		t.Fatal(err)
	}
	return provider{sender, func() string {
		var b strings.Builder
		for _, m := range gateway.Accepted() {
			b.WriteString(phone.Number(m.To).Format() + " " + m.Kind + "\n" + m.Text + "\n")
		}
		return b.String()
	}}
}

func openTwilio(t *testing.T) provider {
	api := smstest.NewTwilio(t)
	sender, err := sms.New(twilioConfig(api))
	if err != nil {
		t.Fatal(err)
	}
	return provider{sender, func() string {
		var b strings.Builder
		for _, m := range api.Messages() {
			b.WriteString(phone.Number(m.Get("To")).Format() + " otp\n" + m.Get("Body") + "\n")
		}
		return b.String()
	}}
}

func twilioConfig(api *smstest.Twilio) sms.Config {
	return sms.Config{
		Accounts:   []sms.Account{{Kind: "twilio", URL: api.URL(), User: api.SID, Password: api.Token, Sender: api.Sender}},
		ReceiptURL: receiptURL,
	}
}

func receiptURL(ref message.MessageRef) string { return "https://t.example/receipts/" + ref.String() }

func openMSG91(t *testing.T) provider {
	api := smstest.NewMSG91(t)
	sender, err := sms.New(msg91Config(api))
	if err != nil {
		t.Fatal(err)
	}
	return provider{sender, func() string {
		var b strings.Builder
		for _, m := range api.Messages() {
			b.WriteString(phone.Number(m.To).Format() + " otp\n" + m.Text + "\n")
		}
		return b.String()
	}}
}

// msg91Config registers the template of message.
func msg91Config(api *smstest.MSG91) sms.Config {
	api.Templates["6500000000000000000000aa"] = "##text##"
	return sms.Config{
		Accounts:       []sms.Account{{Kind: "msg91", URL: api.URL(), User: api.Key, Sender: api.Header, EntityID: api.EntityID}},
		MSG91Templates: map[string]sms.MSG91Template{"test.en": {ID: "6500000000000000000000aa", RegistryID: "1207160000000000001"}},
		ReceiptSecret:  func(ref message.MessageRef) string { return fmt.Sprintf("%022d", ref.Attempt) },
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newMessage(text string) sms.Message {
	return sms.Message{
		ID: "0198c0de-0000-7000-8000-000000000001", Attempt: 1, TotalAttempts: 1, To: "+919876543210", Text: text, Kind: sms.OTP,
		Template: message.Text{Template: "test", Language: "en", Values: map[string]string{"text": text}, Body: text},
	}
}

func testSends(t *testing.T, p provider) {
	texts := []string{
		"123456 is your Touchline code.",
		"Quotes \" and 'these', <b>tags</b> & more",
		"हिन्दी में संदेश 🏏",
		"two\nlines",
		strings.TrimSpace(strings.Repeat("long ", 300)),
	}
	for _, text := range texts {
		if err := p.sender.Send(t.Context(), newMessage(text)); err != nil {
			t.Fatalf("Send: %v", err)
		}
	}
	sent := p.sent()
	for _, want := range append(texts, "+91 98765 43210", "otp") {
		if !strings.Contains(sent, want) {
			t.Errorf("sent %q, want it to contain %q", sent, want)
		}
	}
}

func testConcurrent(t *testing.T, p provider) {
	const many = 50
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			if err := p.sender.Send(t.Context(), newMessage(fmt.Sprintf("message <%d>", i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	sent := p.sent()
	for i := range many {
		if n := strings.Count(sent, fmt.Sprintf("message <%d>\n", i)); n != 1 {
			t.Errorf("message %d was sent %d times, want 1", i, n)
		}
	}
}

func testCancelled(t *testing.T, p provider) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.sender.Send(ctx, newMessage("never")); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
	if sent := p.sent(); strings.Contains(sent, "never") {
		t.Errorf("sent %q, want nothing", sent)
	}
}
