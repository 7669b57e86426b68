// Package mail sends mail by SMTP. It makes one attempt and reports the result. Retries,
// texts and limits belong to packages worker, notify and store.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"github.com/touchline/touchline/internal/message"
)

// sendTimeout bounds one attempt. Some servers delay each answer by seconds.
const sendTimeout = 30 * time.Second

// Config is the configuration for New.
type Config struct {
	// Server is smtp://user@host:port, with STARTTLS, or smtps://user@host:port, with TLS from
	// the start. Without a user there is no authentication. smtp to a loopback address uses
	// no TLS, unless there is a CAFile.
	Server   string
	Password string
	// From is the sender: an address, or a name and an address.
	From string
	// FromName is the sender's name if From has none.
	FromName string
	// CAFile is a PEM file with the authorities that the server's certificate may come from.
	// Empty means the authorities of the system.
	CAFile string
	// StopURL returns the address at which the holder of an address ends mail to it.
	StopURL func(address string) string
	// NoticeURL is the address of the notice.
	NoticeURL string
	// Now is the clock of the Date header.
	Now func() time.Time
}

// Sender sends the outbox's deliveries. It implements worker.Sender and is safe for
// concurrent use.
type Sender struct {
	config  Config
	from    *mail.Address
	host    string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	options []gomail.Option
}

// New returns a Sender. It does not connect.
func New(c Config) (*Sender, error) {
	server, err := url.Parse(c.Server)
	if err != nil {
		return nil, errors.New("mail: the server is not a URL")
	}
	from, err := mail.ParseAddress(c.From)
	if err != nil {
		return nil, errors.New("mail: the sender is not an address")
	}
	if from.Name == "" {
		from.Name = c.FromName
	}
	port, err := strconv.Atoi(server.Port())
	if err != nil {
		return nil, errors.New("mail: the server has no port")
	}
	from.Name = phrase(from.Name)
	s := &Sender{config: c, from: from, host: server.Hostname(), dial: new(net.Dialer).DialContext}
	s.options = []gomail.Option{gomail.WithPort(port), gomail.WithTimeout(sendTimeout), gomail.WithoutNoop()}
	tlsConfig := &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		tlsConfig.RootCAs, err = readAuthorities(c.CAFile)
		if err != nil {
			return nil, err
		}
	}
	s.options = append(s.options, gomail.WithTLSConfig(tlsConfig))
	switch {
	case server.Scheme == "smtps":
		// The connection is encrypted before the library sees it. It must not offer STARTTLS.
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
		s.dial = (&tls.Dialer{Config: tlsConfig}).DialContext
	case c.CAFile == "" && isLoopback(s.host):
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if user := server.User.Username(); user != "" {
		s.options = append(s.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(user), gomail.WithPassword(c.Password))
	}
	return s, nil
}

func readAuthorities(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("mail: read the certificate authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("mail: %s has no certificate", path)
	}
	return pool, nil
}

// isLoopback reports whether mail to the host does not leave this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Send renders m and makes one attempt to send it.
func (s *Sender) Send(ctx context.Context, m message.Message) error {
	msg, err := s.message(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return s.connected(ctx, func(client *gomail.Client, connection *smtp.Client) error {
		if local, _, _ := strings.Cut(m.To, "@"); strings.ContainsFunc(local, func(r rune) bool { return r > unicode.MaxASCII }) {
			if offered, _ := connection.Extension("SMTPUTF8"); !offered {
				return &message.SendError{Permanent: true, Reason: "the mail server takes no address with letters beyond ASCII before the @ (no SMTPUTF8)"}
			}
		}
		// A server that sends notifications (RFC 3461) then returns the id of the delivery and the headers.
		connection.SetDSNMailReturnOption("HDRS ENVID=" + m.ID)
		if err := client.SendWithSMTPClient(connection, msg); err != nil && !msg.IsDelivered() {
			return sendError(err)
		}
		return nil
	})
}

// Check connects to the mail server, and signs in if there is a user. It sends nothing.
func (s *Sender) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return s.connected(ctx, func(*gomail.Client, *smtp.Client) error { return nil })
}

// connected calls fn with a connection to the mail server, and ends it.
func (s *Sender) connected(ctx context.Context, fn func(*gomail.Client, *smtp.Client) error) error {
	var opened net.Conn
	client, err := gomail.NewClient(s.host, append(slices.Clone(s.options), gomail.WithDialContextFunc(
		func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := s.dial(ctx, network, address)
			if err == nil {
				opened = c
			}
			return c, err
		}))...)
	if err != nil {
		return &message.SendError{Reason: "invalid settings of the mail server"}
	}
	// The library closes no connection whose start failed, and follows no context after it.
	defer func() {
		if opened != nil {
			_ = opened.Close()
		}
	}()
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return dialError(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = opened.Close() })
	defer stop()
	if err := fn(client, connection); err != nil {
		return err
	}
	_ = connection.Quit() // the server has taken the message: an error changes nothing
	return nil
}

// message returns the mail of m. Its Message-ID comes from the delivery, so every attempt
// has the same one and servers can drop a repeated one.
func (s *Sender) message(m message.Message) (*gomail.Msg, error) {
	content := message.MailOf(m)
	stop := ""
	if !content.Required() {
		stop = s.config.StopURL(m.To)
	}
	text, html, err := render(content, stop, s.config.NoticeURL)
	if err != nil {
		return nil, &message.SendError{Permanent: true, Reason: "render the mail"}
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	// Each mail server takes A-labels; the letters themselves only one that offers SMTPUTF8 (RFC 6531).
	if err := msg.To(message.ASCIIDomain(m.To)); err != nil {
		return nil, &message.SendError{Permanent: true, Cause: message.CauseUnknownAddress, Reason: "invalid address"}
	}
	msg.Subject(header(content.Subject))
	msg.SetDateWithValue(s.config.Now())
	msg.SetMessageIDWithValue(MessageID(m.ID, s.from.Address))
	msg.SetGenHeader(DeliveryHeader, m.ID)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // no out-of-office replies (RFC 3834)
	if stop != "" {
		msg.SetListUnsubscribe(stop)
		msg.SetListUnsubscribePost()
	}
	msg.SetBodyString(gomail.TypeTextPlain, text)
	msg.AddAlternativeString(gomail.TypeTextHTML, html)
	return msg, nil
}

// DeliveryHeader has the id of the delivery. A bounce has it also if the mail server replaced the Message-ID.
const DeliveryHeader = "X-Touchline-Delivery"

// MessageID returns the Message-ID of a delivery's mail, without brackets.
func MessageID(deliveryID, from string) string {
	return deliveryID + "@" + from[strings.LastIndexByte(from, '@')+1:]
}

// Suppressed returns false: the service sends to every address. It checks test numbers when it
// queues a message.
func (s *Sender) Suppressed(string) bool { return false }

// Segments returns the amount that the message limits count for a mail: 1.
func (s *Sender) Segments(message.Message) int { return 1 }
