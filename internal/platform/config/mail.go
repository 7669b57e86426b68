package config

import (
	"crypto/x509"
	"errors"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// MailServer is the mail server of MAIL with the account at it.
type MailServer struct {
	// URL is smtp://user@host:port or smtps://user@host:port; empty if MAIL is off.
	URL      string
	Password string
	// From is the sender: an address, or a name and an address.
	From string
	// CAFile is a PEM file with the authorities of the server's certificate; empty for the system's.
	CAFile string
	// BounceSecret is the end of the address for bounces; empty if there is none.
	BounceSecret string
}

// MailServer returns the mail server.
func (c *Config) MailServer() MailServer {
	m, _ := parseMail(c.Mail.Reveal())
	return m
}

func (c *Config) checkMail() []string {
	_, err := parseMail(c.Mail.Reveal())
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}

var bounceSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// parseMail parses MAIL. Its errors do not repeat the text, which has a password.
func parseMail(text string) (MailServer, error) {
	const form = "smtp://user:password@host:587?from=<address> or smtps://user:password@host:465?from=<address>"
	if text == off {
		return MailServer{}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.Path != "" || u.Fragment != "" {
		return MailServer{}, errors.New("must be off, " + form)
	}
	options, err := url.ParseQuery(strings.ReplaceAll(u.RawQuery, "+", "%2B")) // an address may have a +
	for name, values := range options {
		if !slices.Contains([]string{"from", "ca", "bounce_secret"}, name) || len(values) != 1 {
			err = errors.New("option")
		}
	}
	m := MailServer{From: options.Get("from"), CAFile: options.Get("ca"), BounceSecret: options.Get("bounce_secret")}
	m.Password, _ = u.User.Password()
	from, fromErr := mail.ParseAddress(m.From)
	switch {
	case err != nil:
		return m, errors.New("accepts the options from, ca, bounce_secret")
	case !hasValidPort(u) || u.Port() == "0":
		return m, errors.New("must have a port from 1 to 65535")
	case u.User.Username() != "" && m.Password == "":
		return m, errors.New("must contain the password of the user: " + form)
	case fromErr != nil || !strings.Contains(from.Address[strings.LastIndexByte(from.Address, '@')+1:], "."):
		return m, errors.New("the option from must be an address, or a name and an address: Touchline <hello@touchline.example>")
	case m.BounceSecret != "" && !bounceSecret.MatchString(m.BounceSecret):
		return m, errors.New("the option bounce_secret must have 16 to 128 letters, digits, - and _")
	case m.CAFile != "" && checkAuthorities(m.CAFile) != "":
		return m, errors.New("the file of the option ca " + checkAuthorities(m.CAFile))
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), map[string]string{"smtp": "587", "smtps": "465"}[u.Scheme])
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	u.RawQuery = ""
	m.URL = u.String()
	return m, nil
}

// checkAuthorities checks a file of certificates.
func checkAuthorities(file string) string {
	pem, message := readPEM(file)
	if message == "" && !x509.NewCertPool().AppendCertsFromPEM(pem) {
		message = "has no certificate in PEM"
	}
	return message
}
