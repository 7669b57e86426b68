package main

import (
	"io"
	"log"
	"net"
	"regexp"
	"strings"

	"github.com/emersion/go-smtp"
)

// mailServer takes mail on loopback.
type mailServer struct {
	network *network
	server  *smtp.Server
	url     string
}

func newMailServer(n *network) *mailServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	orPanic(err)
	s := &mailServer{network: n, url: "smtp://" + listener.Addr().String()}
	s.server = smtp.NewServer(s)
	s.server.Domain, s.server.ErrorLog, s.server.EnableDSN = "mail.example", log.New(io.Discard, "", 0), true
	go func() { _ = s.server.Serve(listener) }() // until close
	return s
}

// NewSession implements smtp.Backend.
func (s *mailServer) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &mailSession{server: s, conn: c}, nil
}

// mailSession is one connection.
type mailSession struct {
	server *mailServer
	conn   *smtp.Conn
	mail   *message
}

// Mail implements smtp.Session. The envelope id is that of the delivery.
func (s *mailSession) Mail(_ string, o *smtp.MailOptions) error {
	s.mail = &message{ID: o.EnvelopeID, Channel: "mail", Kind: "mail"}
	return nil
}

// Rcpt implements smtp.Session.
func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = to
	return nil
}

// stopLink is the header with which a mail program ends mail to the address.
var stopLink = regexp.MustCompile(`(?i)List-Unsubscribe: ?<` + regexp.QuoteMeta(publicURL) + `([^>]+)>`)

// folded is a line of a header that goes on in the next one.
var folded = regexp.MustCompile(`\r\n[ \t]+`)

// Data implements smtp.Session.
func (s *mailSession) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	header, _, _ := strings.Cut(string(raw), "\r\n\r\n")
	header = folded.ReplaceAllString(header, " ")
	s.mail.Text = header
	if stop := stopLink.FindStringSubmatch(header); stop != nil {
		s.mail.Stop = stop[1]
	}
	n := s.server.network
	n.mu.Lock()
	defer n.mu.Unlock()
	switch n.accept(mailHost, s.mail) {
	case 0:
		return s.conn.Conn().Close()
	case 503:
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "try later"}
	case 400:
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
	}
	return nil
}

// Reset implements smtp.Session.
func (s *mailSession) Reset() { s.mail = nil }

// Logout implements smtp.Session.
func (s *mailSession) Logout() error { return nil }
