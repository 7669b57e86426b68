package config

import (
	"crypto/x509"
	"net"
	"net/mail"
	"net/url"
	"strings"
)

// system is the MAIL_CA of the authorities that the system knows.
const system = "system"

// MailServer returns the mail server, smtp://… or smtps://… with a port, or "" if there is
// none.
func (c *Config) MailServer() string {
	u, err := url.Parse(c.Mail.Reveal())
	if err != nil || c.Mail == off {
		return ""
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), map[string]string{"smtp": "587", "smtps": "465"}[u.Scheme])
	}
	return u.String()
}

// MailAuthorities returns the file of MAIL_CA, or "" for the authorities of the system.
func (c *Config) MailAuthorities() string {
	if c.MailCA == system {
		return ""
	}
	return c.MailCA
}

// hasMail reports whether MAIL names a server. The other settings are judged only then, so
// that one mistake is reported once.
func (c *Config) hasMail() bool { return c.Mail != off && c.checkMail() == nil }

func (c *Config) checkMail() []string {
	if c.Mail == off {
		return nil
	}
	u, err := url.Parse(c.Mail.Reveal())
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return []string{"must be off, smtp://user@host:587 or smtps://user@host:465"}
	}
	if _, has := u.User.Password(); has {
		return []string{"must not contain the password: set MAIL_PASSWORD"}
	}
	if !hasValidPort(u) || u.Port() == "0" {
		return []string{"must have a port from 1 to 65535"}
	}
	return nil
}

func (c *Config) checkMailPassword() []string {
	u, err := url.Parse(c.Mail.Reveal())
	if err == nil && c.hasMail() && u.User.Username() != "" && c.MailPassword == "" {
		return []string{"must be set, because MAIL has a user"}
	}
	return nil
}

func (c *Config) checkMailFrom() []string {
	if c.MailFrom == none {
		if c.hasMail() {
			return []string{"must be set, because MAIL is"}
		}
		return nil
	}
	if a, err := mail.ParseAddress(c.MailFrom); err != nil || !strings.Contains(a.Address[strings.LastIndexByte(a.Address, '@')+1:], ".") {
		return []string{"must be an address, or a name and an address: Touchline <hello@touchline.example>"}
	}
	return nil
}

func (c *Config) checkMailCA() []string {
	if !c.hasMail() {
		return nil
	}
	return optional(checkAuthorities(c.MailCA))
}

// checkAuthorities checks a file of certificates, or "system".
func checkAuthorities(file string) string {
	if file == system {
		return ""
	}
	pem, message := readPEM(file)
	if message == "" && !x509.NewCertPool().AppendCertsFromPEM(pem) {
		message = "has no certificate in PEM"
	}
	return message
}

// checkBounceSecret accepts characters that need no escape in a path.
func checkBounceSecret(s Secret) string {
	secret := s.Reveal()
	other := strings.ContainsFunc(secret, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
	if secret != "" && (len(secret) < 16 || len(secret) > 128 || other) {
		return "must have 16 to 128 letters, digits, - and _"
	}
	return ""
}
