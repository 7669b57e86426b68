package mail_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/mail"
	"github.com/touchline/touchline/internal/message/mail/mailtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const address = "meera@families.example"

// question is an approval request to a guardian.
func question() message.Message {
	return message.Message{
		ID: "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", Attempt: 1, TotalAttempts: 1, To: address, Kind: message.Request, Brand: "Touchline",
		Request: message.RequestDetails{Party: "guardian", CoachName: "Meera Nair", StudentName: "Asha Rao", ShortCode: "KTMWXR"},
		Link:    "https://touchline.example/a/token",
	}
}

func newSender(t *testing.T, server *mailtest.Server, change ...func(*mail.Config)) *mail.Sender {
	t.Helper()
	c := mail.Config{
		Server: server.URL, Password: mailtest.Password, From: "hello@touchline.example", FromName: "Touchline", CAFile: server.CAFile,
		NoticeURL: "https://touchline.example/notice",
		StopURL:   func(to string) string { return "https://touchline.example/unsubscribe/" + strings.ToUpper(to) },
		Now:       func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) },
	}
	for _, f := range change {
		f(&c)
	}
	s, err := mail.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSend sends a mail to a real server with STARTTLS, with TLS from the start, and without
// TLS on this machine.
func TestSend(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]mailtest.Mode{"STARTTLS": mailtest.STARTTLS, "implicit TLS": mailtest.ImplicitTLS, "plain": mailtest.Plain} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.New(t, mode)
			if err := newSender(t, server).Send(t.Context(), question()); err != nil {
				t.Fatal(err)
			}
			got := server.Wait(t, address, 0)
			if got.EnvelopeID != question().ID { // a notification of the mail server returns it, whatever happens to the headers
				t.Errorf("envelope id %q", got.EnvelopeID)
			}
			if got.TLS != (mode != mailtest.Plain) || got.From != "hello@touchline.example" {
				t.Errorf("TLS %t, from %s", got.TLS, got.From)
			}
			for header, want := range map[string]string{
				"From": `"Touchline" <hello@touchline.example>`, "To": "<" + address + ">", "Date": "Mon, 02 Mar 2026 09:00:00 +0000",
				"Message-Id":            "<0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21@touchline.example>",
				"List-Unsubscribe":      "<https://touchline.example/unsubscribe/MEERA@FAMILIES.EXAMPLE>",
				"List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "Auto-Submitted": "auto-generated", "User-Agent": "", "X-Mailer": "",
			} {
				if got := got.Header.Get(header); got != want {
					t.Errorf("%s: %s, want %s", header, got, want)
				}
			}
			for _, part := range []string{got.Text, got.HTML} {
				for _, want := range []string{"Asha Rao", "https://touchline.example/a/token", "KTMWXR", "/unsubscribe/"} {
					if !strings.Contains(part, want) {
						t.Errorf("a part has no %q:\n%s", want, part)
					}
				}
			}
		})
	}
}

// A notice about security cannot be ended, so it has no link for that.
func TestRequiredMail(t *testing.T) {
	t.Parallel()
	server := mailtest.New(t, mailtest.Plain)
	notice := message.Message{ID: "1", To: address, Kind: message.NotificationCopy, Brand: "Touchline", Copy: message.Copy{Type: message.SecurityNotice, Title: "Your number was changed", Text: "If this was not you, sign out everywhere.", ToCoach: true}}
	if err := newSender(t, server).Send(t.Context(), notice); err != nil {
		t.Fatal(err)
	}
	got := server.Wait(t, address, 0)
	if got.Subject != "Your number was changed" || got.Header.Get("List-Unsubscribe") != "" || strings.Contains(got.Text+got.HTML, "unsubscribe") {
		t.Errorf("subject %q, %v\n%s", got.Subject, got.Header, got.Text)
	}
}

// TestFailures checks which failures are permanent and that no error contains the address.
func TestFailures(t *testing.T) {
	t.Parallel()
	refusal := func(code, class, subject, detail int) *smtp.SMTPError {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{class, subject, detail}, Message: "no mail for " + address}
	}
	for name, tt := range map[string]struct {
		behave    mailtest.Behaviour
		permanent bool
		cause     message.Cause
		reason    string
	}{
		"no such address":    {mailtest.Behaviour{Recipient: refusal(550, 5, 1, 1)}, true, message.CauseUnknownAddress, "the mail server responded 550 5.1.1"},
		"mailbox full":       {mailtest.Behaviour{Recipient: refusal(552, 5, 2, 2)}, true, message.CauseMailboxFull, "the mail server responded 552 5.2.2"},
		"greylisting":        {mailtest.Behaviour{Recipient: refusal(450, 4, 2, 0)}, false, "", "the mail server responded 450 4.2.0"},
		"relaying is denied": {mailtest.Behaviour{Recipient: refusal(554, 5, 7, 1)}, false, "", "the mail server responded 554 5.7.1"},
		"sender refused":     {mailtest.Behaviour{Sender: refusal(553, 5, 1, 8)}, false, "", "the mail server responded 553 5.1.8"},
		"taken for spam":     {mailtest.Behaviour{Data: refusal(554, 5, 7, 1)}, true, message.CauseFiltered, "the mail server responded 554 5.7.1"},
		"out of space":       {mailtest.Behaviour{Data: refusal(452, 4, 3, 1)}, false, "", "the mail server responded 452 4.3.1"},
		"broken connection":  {mailtest.Behaviour{Drop: true}, false, "", "the connection to the mail server broke"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.New(t, mailtest.Plain)
			server.Behave(tt.behave)
			wantFailure(t, newSender(t, server).Send(t.Context(), question()), tt.permanent, tt.cause, tt.reason)
		})
	}
	t.Run("no answer", func(t *testing.T) {
		t.Parallel()
		server := mailtest.New(t, mailtest.Plain)
		server.Behave(mailtest.Behaviour{Hang: true})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		wantFailure(t, newSender(t, server).Send(ctx, question()), false, "", "the connection to the mail server broke")
	})
	for name, tt := range map[string]struct {
		mode   mailtest.Mode
		change func(*mail.Config)
		reason string
	}{
		"wrong password":      {mailtest.STARTTLS, func(c *mail.Config) { c.Password = "wrong" }, "the mail server refused the user or the password"},
		"unknown authority":   {mailtest.ImplicitTLS, func(c *mail.Config) { c.CAFile = mailtest.New(t, mailtest.STARTTLS).CAFile }, "the certificate of the mail server is not valid"},
		"no STARTTLS offered": {mailtest.Plain, func(c *mail.Config) { c.CAFile = mailtest.New(t, mailtest.STARTTLS).CAFile }, "the mail server offers no STARTTLS"},
		"nothing listens":     {mailtest.Plain, func(c *mail.Config) { c.Server = "smtp://127.0.0.1:1" }, "connect to the mail server: connection refused"},
		"refused greeting":    {mailtest.Plain, func(c *mail.Config) { c.Server = greet(t, "421 4.3.2 too busy for g@example.org") }, "the mail server responded 421"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.New(t, tt.mode)
			wantFailure(t, newSender(t, server, tt.change).Send(t.Context(), question()), false, "", tt.reason)
			if server.Attempts() != 0 {
				t.Error("a mail was begun")
			}
		})
	}
}

// greet starts a server that sends one line and closes the connection.
func greet(t *testing.T, line string) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(c, "%s\r\n", line)
			_ = c.Close()
		}
	}()
	return "smtp://" + listener.Addr().String()
}

func wantFailure(t *testing.T, err error, permanent bool, cause message.Cause, reason string) {
	t.Helper()
	failure, ok := errors.AsType[*message.SendError](err)
	if !ok {
		t.Fatalf("got %v, want a SendError", err)
	}
	if failure.Permanent != permanent || failure.Cause != cause || failure.Reason != reason {
		t.Errorf("permanent %t, cause %q, reason %q; want %t, %q, %q", failure.Permanent, failure.Cause, failure.Reason, permanent, cause, reason)
	}
}

// TestParts compares both parts of a mail in each language with the golden files.
func TestParts(t *testing.T) {
	t.Parallel()
	server := mailtest.New(t, mailtest.Plain)
	sender := newSender(t, server)
	for i, language := range []string{"en", "hi"} {
		m := question()
		m.Language = language
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got := server.Wait(t, address, i)
		for name, part := range map[string]string{"txt": got.Text, "html": got.HTML} {
			file := "testdata/question." + language + "." + name
			if *update {
				if err := os.WriteFile(file, []byte(part), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), part); diff != "" {
				t.Errorf("%s differs; check it, then run with -update:\n%s", file, diff)
			}
		}
	}
}

// TestInternationalAddress: the domain is sent in A-labels, which each server takes. Letters beyond ASCII before the @ need SMTPUTF8.
func TestInternationalAddress(t *testing.T) {
	t.Parallel()
	server := mailtest.New(t, mailtest.Plain)
	sender := newSender(t, server)
	m := question()
	m.To = "meera@bücher.example"
	if err := sender.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := server.Wait(t, "meera@xn--bcher-kva.example", 0)
	if got.Header.Get("To") != "<meera@xn--bcher-kva.example>" || got.Header.Get(mail.DeliveryHeader) != m.ID {
		t.Errorf("got %v", got.Header)
	}
	m.To = `"meera..rao"@example.org`
	if err := sender.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := server.Wait(t, "meera..rao@example.org", 0); got.Header.Get("To") != "<"+m.To+">" { // the server of the test removes the marks
		t.Errorf("got %v", got.Header)
	}
	m.To = "मीरा@bücher.example"
	wantFailure(t, sender.Send(t.Context(), m), true, "", "the mail server takes no address with letters beyond ASCII before the @ (no SMTPUTF8)")
}
