package sms_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
)

const (
	secretText = "424242 is your code"
	secretUser = "S3NT1NEL"
)

// send posts one message to address. It fails the test if the error contains a secret.
func send(t *testing.T, address string, timeout time.Duration) (*message.SendError, error) {
	t.Helper()
	sender, err := sms.NewHTTP(address, timeout)
	if err != nil {
		t.Fatal(err)
	}
	err = sender.Send(t.Context(), newMessage(secretText))
	for _, text := range []string{fmt.Sprint(err), fmt.Sprintf("%+v %#v", err, err)} {
		for _, secret := range []string{"424242", "9876543210", secretUser} {
			if strings.Contains(text, secret) {
				t.Errorf("the error contains %q: %s", secret, text)
			}
		}
	}
	failed, _ := errors.AsType[*message.SendError](err)
	return failed, err
}

// withSecrets puts credentials into every part of the address that may contain them.
func withSecrets(address string) string {
	return strings.Replace(address, "://", "://me:"+secretUser+"@", 1) + "/" + secretUser + "?key=" + secretUser
}

func TestHTTPRequest(t *testing.T) {
	gateway := smstest.New(t)
	if _, err := send(t, withSecrets(gateway.URL()), time.Second); err != nil {
		t.Fatal(err)
	}
	got := gateway.Accepted()[0]
	want := newMessage(secretText)
	if got.ID != want.ID || got.To != string(want.To) || got.Text != want.Text || got.Kind != "otp" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	r := http.Request{Header: got.Header}
	if user, password, _ := r.BasicAuth(); user != "me" || password != secretUser {
		t.Errorf("Basic credentials = %q, %q; want me, %q", user, password, secretUser)
	}
	if r.UserAgent() != "Touchline" {
		t.Errorf("User-Agent = %q, want Touchline", r.UserAgent())
	}
}

func TestHTTPStatus(t *testing.T) {
	soon := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	tests := []struct {
		status     int
		retryAfter string
		permanent  bool
		wait       time.Duration
	}{
		{400, "", true, 0},
		{410, "", true, 0},
		{422, "60", true, 0},
		{401, "", false, 0},
		{403, "", false, 0},
		{404, "", false, 0},
		{408, "", false, 0},
		{429, "30", false, 30 * time.Second},
		{429, "soon", false, 0},
		{429, "-5", false, 0},
		{429, "999999999", false, 24 * time.Hour},
		{500, "", false, 0},
		{503, soon, false, 90 * time.Second},
		{503, "Mon, 02 Jan 2006 15:04:05 GMT", false, 0},
		{302, "", false, 0},
		{307, "", false, 0},
		{304, "", false, 0},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status, tt.retryAfter), func(t *testing.T) {
			elsewhere, gateway := smstest.New(t), smstest.New(t)
			gateway.Behave(smstest.Behaviour{Status: tt.status, RetryAfter: tt.retryAfter, Location: elsewhere.URL()})
			failed, err := send(t, withSecrets(gateway.URL()), time.Second)
			if failed == nil {
				t.Fatalf("err = %v, want a SendError", err)
			}
			if failed.Permanent != tt.permanent {
				t.Errorf("permanent = %v, want %v", failed.Permanent, tt.permanent)
			}
			if off := failed.Wait - tt.wait; off > time.Second || off < -2*time.Second {
				t.Errorf("wait = %s, want %s", failed.Wait, tt.wait)
			}
			if !strings.Contains(err.Error(), fmt.Sprint(tt.status)) {
				t.Errorf("err = %v, want it to contain the status", err)
			}
			if elsewhere.Attempts() != 0 || gateway.Attempts() != 1 {
				t.Errorf("gateway got %d attempts, the redirect target %d; want 1, 0", gateway.Attempts(), elsewhere.Attempts())
			}
		})
	}
	for _, status := range []int{200, 201, 202, 204} {
		gateway := smstest.New(t)
		gateway.Behave(smstest.Behaviour{Status: status})
		if _, err := send(t, gateway.URL(), time.Second); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestHTTPTimeout(t *testing.T) {
	for name, behaviour := range map[string]smstest.Behaviour{
		"slow":         {Delay: time.Minute},
		"unresponsive": {Unresponsive: true},
	} {
		gateway := smstest.New(t)
		gateway.Behave(behaviour)
		begun := time.Now()
		failed, err := send(t, withSecrets(gateway.URL()), 50*time.Millisecond)
		if failed == nil || failed.Permanent || !strings.Contains(err.Error(), "timed out") {
			t.Errorf("%s: err = %v, want a temporary failure: timed out", name, err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s: took %s, want about 50 ms", name, took)
		}
		gateway.Behave(smstest.Behaviour{})
		if _, err := send(t, gateway.URL(), time.Second); err != nil {
			t.Errorf("%s, then a normal gateway: %v", name, err)
		}
	}
}

// A cancelled caller gets its context's error, not a SendError of the gateway.
func TestHTTPCallerCancels(t *testing.T) {
	gateway := smstest.New(t)
	gateway.Behave(smstest.Behaviour{Unresponsive: true})
	sender, err := sms.NewHTTP(gateway.URL(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := sender.Send(ctx, newMessage(secretText)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v, want context.DeadlineExceeded", err)
	}
}

func TestHTTPBrokenGateways(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"closes":           func(c net.Conn) {},
		"echoes":           func(c net.Conn) { _, _ = c.Write([]byte(secretText + " for +919876543210\r\n\r\n")) },
		"echoes in status": func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 " + secretText + "\r\n\r\n")) },
		"endless header": func(c net.Conn) {
			for err := error(nil); err == nil; {
				_, err = c.Write([]byte("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<16)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			address := listen(t, serve)
			failed, err := send(t, withSecrets("http://"+address), 2*time.Second)
			if failed == nil || failed.Permanent {
				t.Errorf("err = %v, want a temporary failure", err)
			}
		})
	}
	for name, address := range map[string]string{
		"connection permanent": "http://127.0.0.1:1",
		"unknown host":         "http://gateway.invalid",
		"plain text on TLS":    "https://" + listen(t, func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n")) }),
		"SMTP server":          "http://" + listen(t, func(c net.Conn) { _, _ = c.Write([]byte("220 smtp ready\r\n")) }),
	} {
		if failed, err := send(t, withSecrets(address), 2*time.Second); failed == nil || failed.Permanent {
			t.Errorf("%s: err = %v, want a temporary failure", name, err)
		}
	}
}

// A 2xx status counts even if the body never ends.
func TestHTTPEndlessBody(t *testing.T) {
	address := listen(t, func(c net.Conn) {
		_, err := c.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		for err == nil {
			_, err = c.Write(make([]byte, 1<<16))
		}
	})
	if _, err := send(t, "http://"+address, 5*time.Second); err != nil {
		t.Errorf("err = %v, want nil", err)
	}
}

// listen calls serve for each connection after it has sent its headers.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = conn.Read(make([]byte, 64<<10))
				serve(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func TestHTTPReusesConnections(t *testing.T) {
	gateway := smstest.New(t)
	sender, err := sms.NewHTTP(gateway.URL(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := sender.Send(t.Context(), newMessage(secretText)); err != nil {
			t.Fatal(err)
		}
	}
	if n := gateway.Connections(); n != 1 {
		t.Errorf("%d connections for 3 messages, want 1", n)
	}
}

func TestNewRejectsInvalidAccounts(t *testing.T) {
	for _, a := range []sms.Account{
		{},
		{Kind: "LOG"},
		{Kind: secretUser},
		{Kind: "twilio", URL: secretUser},
		{Kind: "http"},
		{Kind: "http", URL: secretUser},
		{Kind: "http", URL: "ftp://" + secretUser + "@h"},
		{Kind: "http", URL: "http://%zz" + secretUser},
		{Kind: "kannel"},
		{Kind: "msg91", URL: secretUser},
	} {
		if sender, err := sms.New(sms.Config{Accounts: []sms.Account{a}}); err == nil || sender != nil || strings.Contains(err.Error(), secretUser) {
			t.Errorf("New(%+v) = %v, %v; want an error without the secret", a, sender, err)
		}
	}
}

func TestLogWarnsAndRemovesControlCharacters(t *testing.T) {
	var out bytes.Buffer
	m := newMessage("Hi \x1b[2J\x1b]0;x\x07 \u202egnp.exe\r\nsecond")
	if err := sms.NewLog(&out).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	want := "\n┌── SMS, NOT SENT: for development only; anyone who sees this can sign in ──\n" +
		"│ to +91 98765 43210 (otp)\n│\n" +
		"│   Hi [2J]0;x gnp.exe\n│   second\n└──\n"
	if out.String() != want {
		t.Errorf("got %q\nwant %q", out.String(), want)
	}
	err := sms.NewLog(brokenWriter{}).Send(t.Context(), newMessage(secretText))
	if failed, ok := errors.AsType[*message.SendError](err); !ok || failed.Permanent || strings.Contains(err.Error(), "424242") {
		t.Errorf("err = %v, want a temporary failure without the text", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write(p []byte) (int, error) { return 0, fmt.Errorf("write %s", p) }
