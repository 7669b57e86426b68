// Package mailtest is a mail server on a real socket, for tests. It takes mail by SMTP with
// STARTTLS, with TLS from the start, or without, and can simulate failures.
package mailtest

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Mode is how a client reaches the server.
type Mode int

// The modes.
const (
	STARTTLS Mode = iota
	ImplicitTLS
	Plain
)

// User and Password are those that a server with TLS accepts.
const (
	User     = "touchline"
	Password = "correct horse"
)

// Behaviour is how the server answers. The zero value accepts every mail.
type Behaviour struct {
	// Sender, Recipient and Data refuse a mail at MAIL, RCPT and after its content, if set.
	Sender, Recipient, Data *smtp.SMTPError
	// Hang makes the server take the content and never answer.
	Hang bool
	// Drop makes the server take the mail and close the connection instead of an answer.
	Drop bool
}

// Server listens until the test ends. Its methods are safe for concurrent use.
type Server struct {
	// URL is the address for the setting MAIL, with the user. CAFile has the authority of
	// the certificate; it is empty without TLS.
	URL, CAFile string

	tb       testing.TB
	mu       sync.Mutex
	behave   Behaviour
	received []Mail
	attempts int
	changed  chan struct{} // closed and replaced at each mail
	ended    chan struct{} // closed at the end of the test
}

// Setting returns the setting MAIL for a sender.
func (s *Server) Setting(from string) string {
	address := strings.Replace(s.URL, "@", ":"+url.PathEscape(Password)+"@", 1) + "?from=" + from
	if s.CAFile != "" {
		address += "&ca=" + s.CAFile
	}
	return address
}

// New starts a server for a test.
func New(tb testing.TB, mode Mode) *Server {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{tb: tb, changed: make(chan struct{}), ended: make(chan struct{})}
	server := smtp.NewServer(backend{s})
	server.Domain, server.ErrorLog = "mail.test", log.New(io.Discard, "", 0)
	server.ReadTimeout, server.WriteTimeout = time.Minute, time.Minute
	server.EnableDSN = true
	s.URL = "smtp://" + listener.Addr().String()
	if mode != Plain {
		server.TLSConfig, s.CAFile = newCertificate(tb)
		scheme := "smtp"
		if mode == ImplicitTLS {
			scheme, listener = "smtps", tls.NewListener(listener, server.TLSConfig)
		}
		s.URL = scheme + "://" + User + "@" + listener.Addr().String()
	}
	go func() { _ = server.Serve(listener) }()
	tb.Cleanup(func() {
		close(s.ended)
		if err := server.Close(); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			tb.Errorf("close the mail server: %v", err)
		}
	})
	return s
}

// Behave changes the behaviour from the next mail on.
func (s *Server) Behave(b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behave = b
}

// Received returns the mails that the server has taken, oldest first.
func (s *Server) Received() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Attempts returns how often a client began a mail.
func (s *Server) Attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempts
}

// To returns the mails to an address, oldest first.
func (s *Server) To(address string) []Mail {
	return slices.DeleteFunc(s.Received(), func(m Mail) bool { return m.To != address })
}

// Wait returns the nth mail to an address, counted from 0. The test fails if it does not
// arrive within ten seconds.
func (s *Server) Wait(tb testing.TB, address string, n int) Mail {
	tb.Helper()
	deadline := time.After(time.Minute)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if all := s.To(address); len(all) > n {
			return all[n]
		}
		select {
		case <-changed:
		case <-deadline:
			tb.Fatalf("mail %d to %s did not arrive", n, address)
		}
	}
}

func (s *Server) take(m Mail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, m)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) behaviour() Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behave
}

type backend struct{ *Server }

// NewSession implements smtp.Backend.
func (b backend) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{server: b.Server, conn: c}, nil
}

// session is one connection.
type session struct {
	server        *Server
	conn          *smtp.Conn
	authenticated bool
	mail          Mail
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != User || password != Password {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "wrong password of " + user}
		}
		s.authenticated = true
		return nil
	}), nil
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, o *smtp.MailOptions) error {
	s.server.mu.Lock()
	s.server.attempts++
	s.server.mu.Unlock()
	_, isTLS := s.conn.TLSConnectionState()
	if isTLS && !s.authenticated {
		return smtp.ErrAuthRequired
	}
	s.mail = Mail{From: from, EnvelopeID: o.EnvelopeID, TLS: isTLS}
	return orNil(s.server.behaviour().Sender)
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = to
	return orNil(s.server.behaviour().Recipient)
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	b := s.server.behaviour()
	if b.Hang {
		<-s.server.ended
	}
	if b.Data != nil {
		return b.Data
	}
	m, err := parse(s.mail, raw)
	if err != nil {
		s.server.tb.Errorf("invalid mail: %v\n%s", err, raw)
		return err
	}
	s.server.take(m)
	if b.Drop {
		return s.conn.Conn().Close()
	}
	return nil
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.mail = Mail{} }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// orNil avoids an error that holds a nil pointer.
func orNil(err *smtp.SMTPError) error {
	if err == nil {
		return nil
	}
	return err
}
